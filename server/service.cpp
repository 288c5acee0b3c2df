#include "server/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "core/text/quote.h"
#include "server/service_parts.h"

namespace latebind::server {

using core::Status;
using std::chrono::steady_clock;

Service::Service(ServiceLimits limits, Post post) : limits_(limits), post_(std::move(post)) {}

Service::~Service() = default;

bool Service::wait_until_idle(steady_clock::time_point until) const {
  while (in_flight_.load(std::memory_order_acquire) > 0) {
    if (steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

Status Service::add(std::shared_ptr<const ServedModel> model) {
  LB_RETURN_IF_ERROR(names_.add(
      {.given = model->given.empty() ? model->name : model->given, .name = model->name, .others = model->aliases}));
  if (model->tensors != nullptr) {
    runs_[model.get()] = std::make_unique<TensorRuns>(model->tensors, limits_.queue_runs_max, in_flight_);
  }
  models_.push_back(std::move(model));
  return {};
}

Outcome<const ServedModel*> Service::find(std::string_view name) const {
  if (!has_models()) {
    return Refusal{
        .kind = RefusalKind::kNotReady, .message = "the models are still loading", .param = {}, .retry_after_s = 1};
  }
  if (name.empty()) return models_.front().get();
  if (const auto found = names_.find(name)) return models_[*found].get();
  std::string known;
  for (const auto& model : models_)
    known += (known.empty() ? "" : ", ") + model->name;
  return Refusal{.kind = RefusalKind::kNoModel,
                 .message = fmt::format("no model is served as {}; available: {}", core::quoted(name, 100), known),
                 .param = "model"};
}

Outcome<const ServedModel*> Service::find_giving(std::string_view name,
                                                 std::span<const std::string_view> outputs) const {
  auto found = find(name);
  if (!name.empty() || std::holds_alternative<Refusal>(found)) return found;
  for (const std::string_view output : outputs) {
    for (const auto& model : models_) {
      if (model->gives(output)) return model.get();
    }
  }
  return found;
}

ModelQueue Service::queue_of(const ServedModel& model) const {
  ModelQueue queue;
  if (model.tensors != nullptr) {
    const auto state = runs_.at(&model)->state();
    queue.waiting_runs = state.waiting;
    queue.running = state.running;
  }
  for (const auto& encoder : model.encoders) {
    const auto state = encoder->queue_state();
    queue.waiting_texts += state.waiting_texts;
    queue.waiting_tokens += state.waiting_tokens;
    queue.running += state.running_batches;
    queue.running_tokens += state.running_tokens;
  }
  return queue;
}

std::size_t Service::hung_runs_of(const ServedModel& model) {
  std::size_t count = model.tensors != nullptr ? model.tensors->hung_runs() : 0;
  for (const auto& encoder : model.encoders)
    count += encoder->hung_runs();
  return count;
}

}  // namespace latebind::server

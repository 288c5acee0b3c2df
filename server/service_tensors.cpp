// Runs served models that take tensors.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text/counted.h"
#include "core/text/quote.h"
#include "server/service.h"
#include "server/service_parts.h"

namespace latebind::server {

using core::Status;

namespace {

// The memory per byte of a tensor until its answer is sent: a copy, and the text.
constexpr std::uint64_t kTensorByteBytes = 4;

Refusal bad_input(std::string message) {
  return Refusal{.kind = RefusalKind::kBadRequest, .message = std::move(message), .param = "inputs"};
}

// Orders the inputs as the model does, and checks that each occurs once and has the size of its shape.
std::optional<Refusal> order_inputs(const core::PlacedModel& model, std::vector<NamedTensor>& given,
                                    TensorRuns::Inputs& memory, std::vector<core::TensorView>& views) {
  for (const core::TensorInfo& wanted : model.inputs()) {
    const auto found = std::ranges::find(given, wanted.name, &NamedTensor::name);
    if (found == given.end()) return bad_input(fmt::format("the input {} is missing", core::quoted(wanted.name, 100)));
    const auto bytes = core::byte_size_of(found->type, found->shape);
    if (!bytes.ok()) return refusal_of(bytes.status());
    if (*bytes != found->data.size()) {
      return bad_input(fmt::format("the input {} has {}; its type and shape require {}", core::quoted(wanted.name, 100),
                                   core::counted(found->data.size(), "byte"), *bytes));
    }
    std::vector<std::byte>& data = memory.emplace_back(std::move(found->data));
    views.push_back({.data = data.data(), .type = found->type, .shape = found->shape, .strides = std::nullopt});
    given.erase(found);
  }
  if (given.empty()) return std::nullopt;
  std::string known;
  for (const core::TensorInfo& wanted : model.inputs())
    known += (known.empty() ? "" : ", ") + wanted.name;
  return bad_input(fmt::format("the model has no input {}, or it is given twice; available: {}",
                               core::quoted(given.front().name, 100), known));
}

}  // namespace

void Service::run(const ExchangePtr& exchange, TensorCall call,
                  const std::function<void(Outcome<std::vector<NamedTensor>>)>& done) {
  const auto found = find(call.model);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return done(*refusal);
  const ServedModel& model = *std::get<const ServedModel*>(found);
  exchange->note([&](RequestRecord& record) { record.model = model.name; });
  if (model.tensors == nullptr) {
    return done(Refusal{.kind = RefusalKind::kUnsupported,
                        .message = fmt::format("{} takes texts, not tensors", model.name),
                        .param = "model"});
  }
  TensorRuns::Inputs memory;
  std::vector<core::TensorView> views;
  if (auto refusal = order_inputs(*model.tensors, call.inputs, memory, views)) return done(std::move(*refusal));
  const Status started =
      runs_.at(&model)->start(exchange, std::move(memory), std::move(views),
                              [this, raw = exchange.get(), &model, done](const TensorRuns::Ran& ran) {
                                if (!raw->is_answered()) done(tensors_of(*raw, model, ran));
                              });
  if (!started.ok()) done(refusal_of(started));
}

Outcome<std::vector<NamedTensor>> Service::tensors_of(Exchange& exchange, const ServedModel& model,
                                                      const TensorRuns::Ran& ran) const {
  const core::ActiveConfig& active = ran.answered_by->active;
  exchange.note([&](RequestRecord& record) {
    record.waiting = ran.waiting;
    record.computing = ran.computing;
    record.device = active.id();
    record.precision = core::word_of(active.precision);
    record.fallback = ran.answered_by->fallback;
  });
  if (!ran.status.ok()) return refusal_of(ran.status);
  if (ran.answered_by->fallback && limits_.strict_requests) {
    return Refusal{.kind = RefusalKind::kFallback,
                   .message = fmt::format("only a fallback device could answer: {}", ran.answered_by->reason),
                   .param = {}};
  }
  std::vector<std::size_t> sizes;
  std::uint64_t total = 0;
  for (const auto& output : ran.outputs) {
    const auto bytes = core::byte_size_of(output.view().type, output.view().shape);
    if (!bytes.ok()) return refusal_of(bytes.status());
    sizes.push_back(*bytes);
    total += *bytes;
  }
  if (!exchange.reserve(total * kTensorByteBytes)) {
    return Refusal{.kind = RefusalKind::kOverloaded,
                   .message = fmt::format(
                       "outputs of {} bytes do not fit beside what other requests hold: try again later", total),
                   .param = {},
                   .retry_after_s = kRetryAfter};
  }
  std::vector<NamedTensor> outputs;
  for (std::size_t i = 0; i < ran.outputs.size(); ++i) {
    const core::TensorView& view = ran.outputs[i].view();
    NamedTensor& output = outputs.emplace_back();
    output.name = model.tensors->outputs()[i].name;
    output.type = view.type;
    output.shape = view.shape;
    output.data.resize(sizes[i]);
    if (const auto copied = view.copy_to_contiguous(output.data.data()); !copied.ok()) return refusal_of(copied);
  }
  return outputs;
}

}  // namespace latebind::server

#include "server/load_model.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/model_source.h"
#include "core/platform/files/folders.h"

namespace latebind::server {

using core::Result;
using core::Status;

namespace {

// Computes a text of one token and a longer one, so that the vendor prepares everything for them.
Status warm(const embedding::Embedder& network, embedding::TextRole role) {
  LB_ASSIGN_OR_RETURN(const embedding::Encoder* const encoder, network.route_for(role));
  embedding::EmbedOptions options{.texts = {.role = role}};
  // All tasks share one graph, so that any of them prepares it.
  const embedding::TaskNames& tasks = encoder->prompts().tasks;
  if (tasks.is_needed) options.texts.prompt.task = tasks.names.front();
  const std::span<const std::string> all_outputs;
  if (network.model_outputs().front()->kind().input == &embedding::kPairInput) {
    const embedding::TextPair pair{"a query", "What the device makes ready for its first pair is made ready now."};
    return encoder->encode(std::span(&pair, 1), all_outputs, options).status();
  }
  for (const std::string_view text : {"", "What the device makes ready for its first text is made ready now."})
    LB_RETURN_IF_ERROR(encoder->encode(std::span(&text, 1), all_outputs, options).status());
  return {};
}

// Warms both routes of a router.
Status warm(const embedding::Embedder& network) {
  LB_RETURN_IF_ERROR(network.prepare());
  if (!network.has_routes()) return warm(network, embedding::TextRole::kUnspecified);
  LB_RETURN_IF_ERROR(warm(network, embedding::TextRole::kQuery));
  return warm(network, embedding::TextRole::kDocument);
}

// Divides the outputs that are served among encoders. Each item has the names of one encoder's outputs.
std::vector<std::vector<std::string>> divide_outputs(const embedding::ModelFolder& folder, bool token_vectors) {
  const embedding::Specification& model = folder.documents();
  const auto& own = model.outputs.front();
  std::vector<std::vector<std::string>> divided{{std::string(own->kind().name)}};
  std::vector<std::string> apart;
  for (const auto& output : std::span(model.outputs).subspan(1)) {
    // Outputs that the folder adds to its own are always served, those of any network on demand.
    const bool is_of_any = output->kind().input == nullptr;
    if (is_of_any && (!token_vectors || !accompanied(*own))) continue;
    const embedding::OutputList both{own, output};
    const bool is_shared =
        model.shares_one_end(both) && (folder.queries() == nullptr || folder.queries()->shares_one_end(both));
    (is_shared ? divided.front() : apart).emplace_back(output->kind().name);
  }
  if (!apart.empty()) divided.push_back(std::move(apart));
  return divided;
}

}  // namespace

Result<std::shared_ptr<const ServedModel>> load_model(const FoundModel& found, const app::Runtime& runtime,
                                                      Metrics& metrics, bool token_vectors) {
  auto model = std::make_shared<ServedModel>();
  const std::filesystem::path& place = found.place;
  model->name = found.names.name;
  model->given = found.names.given;
  model->aliases = found.names.others;
  model->commit = found.commit;
  model->folder = platform::path_to_utf8(place);
  const auto began = std::chrono::steady_clock::now();
  if (is_network_file(place)) {
    LB_ASSIGN_OR_RETURN(const auto network, app::open_model(place));
    LB_ASSIGN_OR_RETURN(model->tensors, runtime.engine().load(network, runtime.placement, runtime.load));
    LB_RETURN_IF_ERROR(model->tensors->prepare());
  } else {
    const auto count = [&metrics, name = model->name](const BatchRecord& batch) { metrics.observe(name, batch); };
    LB_ASSIGN_OR_RETURN(const embedding::ModelFolder folder, app::open_folder(place, runtime.onnx_file));
    for (std::vector<std::string>& outputs : divide_outputs(folder, token_vectors)) {
      LB_ASSIGN_OR_RETURN(
          auto network,
          app::open_network(folder, runtime, {.outputs = std::move(outputs), .role = {}, .on_batch = count}));
      LB_RETURN_IF_ERROR(warm(*network).with_context(fmt::format("{}: the warm-up text", model->name)));
      model->encoders.push_back(std::move(network));
    }
  }
  model->digest = digest_of_model(place, found.commit);
  model->load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  model->loaded_at = std::chrono::system_clock::now();
  model->began_as_fallback = model->attestation()->fallback;
  return std::shared_ptr<const ServedModel>(std::move(model));
}

}  // namespace latebind::server

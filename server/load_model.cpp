#include "server/load_model.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include "app/model_source.h"
#include "core/platform/files/folders.h"

namespace latebind::server {

using core::Result;
using core::Status;

namespace {

Status warm(const embedding::CrossEncoder& encoder) {
  LB_RETURN_IF_ERROR(encoder.network().prepare());
  std::vector<float> scores(encoder.labels().size());
  const embedding::TextPair pair{"a query", "What the device makes ready for its first pair is made ready now."};
  return encoder.score({&pair, 1}, scores).status();
}

// Runs texts of one token and the longest batches, so that the vendor prepares everything for them.
Status warm(const embedding::Embedder& embedder, embedding::TextRole role) {
  const embedding::EmbedOptions options{.texts = {.role = role}};
  const bool is_sparse = embedder.kind() == embedding::EncoderKind::kSparseEncoder;
  std::vector<float> vector(is_sparse ? 0 : embedder.dimension());
  embedding::SparseVector sparse;
  for (const std::string_view text : {"", "What the device makes ready for its first text is made ready now."}) {
    LB_RETURN_IF_ERROR((is_sparse ? embedder.embed_sparse({&text, 1}, {&sparse, 1}, options)
                                  : embedder.embed({&text, 1}, vector, options))
                           .status());
  }
  return {};
}

Status warm(const embedding::MultiVectorEncoder& encoder) {
  LB_RETURN_IF_ERROR(encoder.network().prepare());
  const std::string_view text = "What the device makes ready for its first text is made ready now.";
  embedding::TokenVectors vectors;
  return encoder.encode({&text, 1}, vectors).status();
}

// Warms both routes of a router.
Status warm(const embedding::Embedder& embedder) {
  LB_RETURN_IF_ERROR(embedder.prepare());
  if (embedder.gives_token_vectors()) return {};
  if (!embedder.has_routes()) return warm(embedder, embedding::TextRole::kUnspecified);
  LB_RETURN_IF_ERROR(warm(embedder, embedding::TextRole::kQuery));
  return warm(embedder, embedding::TextRole::kDocument);
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
  const auto warmed = [&name = model->name](const auto& encoder) {
    return warm(encoder).with_context(fmt::format("{}: the warm-up text", name));
  };
  if (is_network_file(place)) {
    LB_ASSIGN_OR_RETURN(const auto network, app::open_model(place));
    LB_ASSIGN_OR_RETURN(model->tensors, runtime.engine().load(network, runtime.placement, runtime.load));
    LB_RETURN_IF_ERROR(model->tensors->prepare());
  } else {
    const auto count = [&metrics, name = model->name](const BatchRecord& batch) { metrics.observe(name, batch); };
    LB_ASSIGN_OR_RETURN(auto network, app::open_network(place, runtime, /*kind=*/std::nullopt, count));
    if (network->kind() == embedding::EncoderKind::kCrossEncoder) {
      model->cross_encoder = embedding::CrossEncoder::of(std::move(network));
      LB_RETURN_IF_ERROR(warmed(*model->cross_encoder));
    } else if (network->kind() == embedding::EncoderKind::kSparseEncoder) {
      model->sparse_encoder = std::move(network);
      LB_RETURN_IF_ERROR(warmed(*model->sparse_encoder));
    } else if (network->kind() == embedding::EncoderKind::kMultiVectorEncoder) {
      model->multi_vector_encoder = embedding::MultiVectorEncoder::of(std::move(network));
      LB_RETURN_IF_ERROR(warmed(*model->multi_vector_encoder));
    } else {
      model->embedder = std::move(network);
      LB_RETURN_IF_ERROR(warmed(*model->embedder));
    }
    if (token_vectors && model->embedder != nullptr) {
      LB_ASSIGN_OR_RETURN(model->token_embedder, app::open_embedder(place, runtime, count, /*token_vectors=*/true));
      LB_RETURN_IF_ERROR(warmed(*model->token_embedder));
    }
  }
  model->digest = digest_of_model(place, found.commit);
  model->load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  model->loaded_at = std::chrono::system_clock::now();
  model->began_as_fallback = model->attestation()->fallback;
  return std::shared_ptr<const ServedModel>(std::move(model));
}

}  // namespace latebind::server

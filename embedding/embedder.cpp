#include "embedding/embedder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "embedding/folder/model_folder.h"
#include "embedding/forward.h"
#include "embedding/outputs/dense.h"
#include "embedding/schedule/scheduler.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

Result<std::unique_ptr<Embedder>> Embedder::open(const core::Engine& engine, const std::filesystem::path& model_folder,
                                                 const core::Placement& placement, const EmbedderOptions& options) {
  LB_ASSIGN_OR_RETURN(const ModelFolder folder, ModelFolder::open(model_folder, {.onnx_file = options.onnx_file}));
  return open(engine, folder, placement, options);
}

Result<std::unique_ptr<Embedder>> Embedder::open(const core::Engine& engine, const ModelFolder& folder,
                                                 const core::Placement& placement, const EmbedderOptions& options) {
  if (!options.load.compile.input_shapes.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "input_shapes are for models that are loaded as they are; texts are computed in shapes of the "
                  "embedder's own (embedding.shapes, embedding.static_lengths)");
  }
  const auto open_one = [&](const Specification& model) { return Encoder::open(engine, model, placement, options); };
  if (folder.has_routes() && options.role != TextRole::kUnspecified) {
    LB_ASSIGN_OR_RETURN(const Specification* const route, folder.route_for(options.role));
    LB_ASSIGN_OR_RETURN(Encoder encoder, open_one(*route));
    return std::unique_ptr<Embedder>(new Embedder(std::move(encoder), folder.documents().outputs, options.role));
  }
  LB_ASSIGN_OR_RETURN(Router<Encoder> encoders, folder.transform(open_one));
  const Encoder* const queries = encoders.queries();
  if (queries != nullptr && encoders.documents().outputs().front().form() != ResultForm::kSparseRow &&
      queries->dimension() != encoders.documents().dimension()) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: its vectors of queries have {} numbers, and those of documents {}", folder.name(),
                              queries->dimension(), encoders.documents().dimension()));
  }
  return std::unique_ptr<Embedder>(
      new Embedder(std::move(encoders), folder.documents().outputs, TextRole::kUnspecified));
}

Result<const Encoder*> Embedder::route_for(TextRole role) const {
  if (only_ != TextRole::kUnspecified && role != TextRole::kUnspecified && role != only_) {
    return Status(StatusCode::kInvalidArgument, fmt::format("{} was opened for texts with another role", name()));
  }
  return encoders_.route_for(role, name());
}

bool Embedder::gives(std::string_view output) const {
  return std::ranges::any_of(documents().outputs(),
                             [&](const BoundOutput& bound) { return bound.output->kind().name == output; });
}
const Output& Embedder::output() const {
  return *documents().outputs().front().output;
}
bool Embedder::gives_token_vectors() const {
  return output().kind().form == ResultForm::kRaggedRows;
}
graph::PoolingMode Embedder::pooling() const {
  return output().pooling();
}
bool Embedder::normalizes() const {
  return output().normalizes();
}

std::span<const std::size_t> Embedder::matryoshka_dimensions() const {
  const auto* const dense = as<DenseOutput>(output());
  return dense != nullptr ? std::span<const std::size_t>(dense->matryoshka_dimensions())
                          : std::span<const std::size_t>();
}

std::size_t Embedder::hung_runs() const {
  const Encoder* const queries = encoders_.queries();
  return documents().hung_runs() + (queries != nullptr ? queries->hung_runs() : 0);
}

QueueState Embedder::queue_state() const {
  QueueState state = documents().queue_state();
  if (const Encoder* const queries = encoders_.queries()) state += queries->queue_state();
  return state;
}

Status Embedder::prepare() const {
  if (const Encoder* const queries = encoders_.queries()) LB_RETURN_IF_ERROR(queries->prepare());
  return documents().prepare();
}

Result<EmbedStats> Embedder::encode(const InputList& inputs, const OutputSink& sink,
                                    const EmbedOptions& options) const {
  LB_ASSIGN_OR_RETURN(const Encoder* const encoder, route_for(options.texts.role));
  return encoder->encode(inputs, {&sink, 1}, options);
}

namespace {

Status check_form(const Output& output, ResultForm wanted) {
  const ResultForm form = output.kind().form;
  if (form == wanted) return {};
  std::string_view what = "the model gives no sparse vectors";
  if (wanted == ResultForm::kRaggedRows) what = "the embedder gives the vectors of texts, not of tokens";
  if (wanted == ResultForm::kRow) {
    what = form == ResultForm::kSparseRow ? "the model gives sparse vectors"
                                          : "the embedder gives the vectors of tokens, not of texts";
  }
  return {StatusCode::kUnsupported, std::string(what)};
}

}  // namespace

Result<EmbedStats> Embedder::embed(std::span<const std::string_view> texts, std::span<float> out,
                                   const EmbedOptions& options) const {
  LB_RETURN_IF_ERROR(check_form(output(), ResultForm::kRow));
  return encode(texts, {.rows = out}, options);
}

Result<EmbedStats> Embedder::embed_ids(std::span<const Ids> texts, std::span<float> out,
                                       const EmbedOptions& options) const {
  LB_RETURN_IF_ERROR(check_form(output(), ResultForm::kRow));
  return encode(texts, {.rows = out}, options);
}

Result<EmbedStats> Embedder::embed_pairs(std::span<const TextPair> pairs, std::span<float> out,
                                         const EmbedOptions& options) const {
  LB_RETURN_IF_ERROR(check_form(output(), ResultForm::kRow));
  return encode(pairs, {.rows = out}, options);
}

Result<EmbedStats> Embedder::embed_sparse(std::span<const std::string_view> texts, std::span<SparseVector> out,
                                          const EmbedOptions& options) const {
  LB_RETURN_IF_ERROR(check_form(output(), ResultForm::kSparseRow));
  return encode(texts, {.sparse = out}, options);
}

Result<EmbedStats> Embedder::embed_tokens(std::span<const std::string_view> texts, const TokenSink& sink,
                                          const EmbedOptions& options) const {
  LB_RETURN_IF_ERROR(check_form(output(), ResultForm::kRaggedRows));
  return encode(texts, {.ragged = &sink}, options);
}

Result<EmbedStats> Embedder::embed_tokens(std::span<const std::string_view> texts, RaggedRows& out,
                                          const EmbedOptions& options) const {
  out.dimension = dimension();
  out.begins.reserve(out.begins.size() + texts.size());
  return embed_tokens(texts, collect_into(out), options);
}

}  // namespace latebind::embedding

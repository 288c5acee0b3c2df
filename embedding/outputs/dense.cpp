#include "embedding/outputs/dense.h"

#include <algorithm>

#include "embedding/folder/pooling_mode.h"
#include "embedding/folder/read_prompts.h"
#include "embedding/folder/refusals.h"
#include "embedding/inputs/prompts.h"
#include "embedding/outputs/onnx_end.h"
#include "embedding/outputs/pooling.h"

namespace latebind::embedding {

using core::Json;
using core::Result;

namespace {

// Without a modules.json, a model is dense if no kind before this one declares it.
bool declares_dense(const Declaration& given) {
  const ConfigFile& own = given.contents.own;
  return !given.modules.listed || !own.read || !own.read->contains("model_type") ||
         has_model_type(own, "SentenceTransformer");
}

Result<std::shared_ptr<const Output>> read_dense_output(const Declaration& given, const NetworkSpec& network) {
  const Modules& modules = given.modules;
  const std::filesystem::path list = given.files.place() / "modules.json";
  if (modules.scores) return unsupported_file(list, "a module gives scores, but the model is not a CrossEncoder");
  if (modules.latents_kept > 0)
    return unsupported_file(list, "SparseAutoEncoder, but the model is not a SparseEncoder");
  if (modules.only_network() && modules.listed) {
    return unsupported_file(list, "no Pooling module: the model gives no vector for a text");
  }
  if (modules.takes_pooler && network.pooler.empty()) {
    return unsupported_file(
        *modules.pooling_file,
        "'modality_config' asks for 'pooler_output', which this kind of network does not have here");
  }
  LB_ASSIGN_OR_RETURN(const std::size_t kept, read_kept_dimensions(given.contents));
  return std::shared_ptr<const Output>(std::make_shared<const DenseOutput>(
      DenseOutput::Parameters{.pooling = modules.pooling,
                              .pooler = modules.takes_pooler ? network.pooler : std::string_view(),
                              .modules = modules.after_pooling,
                              .normalize = modules.normalize,
                              .pools_here = given.prompts.left_out && given.prompts.excluded_by.empty(),
                              .kept_dimensions = kept,
                              .matryoshka_dimensions = read_matryoshka(given.contents)}));
}

}  // namespace

const OutputKind kDenseOutput{
    .name = "dense",
    .form = ResultForm::kRow,
    .noun = "vectors of texts",
    .input = &kTextInput,
    .model = "embedder",
    .hub_owner = "sentence-transformers",
    .purpose =
        "is an embedder: it gives vectors for texts, and neither scores nor sparse vectors; `latebind embed` has "
        "them, and `latebind search` compares them",
    .programs = "Embedder",
    .heading = "vectors of texts (latebind embed, search, serve)",
    .may_have_routes = true,
    .assumes_pooling = true,
    .is_declared = declares_dense,
    .read = read_dense_output};

DenseOutput::DenseOutput(Parameters parameters) : Output(kDenseOutput), parameters_(std::move(parameters)) {}

NetworkEnd DenseOutput::end(bool from_states) const {
  const bool is_pooled_alone = parameters_.modules.empty() && parameters_.pooler.empty();
  if (from_states && is_pooled_alone) return {.hidden_states = true};
  return {.pooling = parameters_.pooling,
          .pooler = std::string(parameters_.pooler),
          .modules = parameters_.modules,
          .normalize = parameters_.normalize};
}

Result<ModelEnd> DenseOutput::find_end(const OnnxFile& file, bool from_states) const {
  if (!parameters_.modules.empty() || !parameters_.pooler.empty()) return refuse_modules_of_onnx(file);
  return from_states ? find_token_states(file) : find_vectors(file);
}

std::size_t DenseOutput::kept_of(std::size_t computed) const {
  return parameters_.kept_dimensions > 0 ? std::min(parameters_.kept_dimensions, computed) : computed;
}

void DenseOutput::take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens, RowTarget target,
                       std::vector<float>& /*scratch*/) const {
  const std::span<float> to(target.numbers, end.dimension);
  if (end.pooled) {
    std::ranges::copy(numbers, to.begin());
    complete(to);
    return;
  }
  pool(parameters_.pooling, numbers, to, tokens.pooled_from);
  if (parameters_.normalize) normalize(to);
}

// The device has normalised the row, perhaps in less than f32.
void DenseOutput::complete(std::span<float> row) const {
  if (parameters_.normalize) correct_length(row);
}

Json DenseOutput::describe() const {
  return {{"pooling", name_of_pooling(parameters_.pooling)},
          {"modules", describe_modules(parameters_.modules)},
          {"normalized", parameters_.normalize},
          {"kept_dimensions", parameters_.kept_dimensions > 0 ? Json(parameters_.kept_dimensions) : Json()},
          {"dimensions", parameters_.matryoshka_dimensions}};
}

}  // namespace latebind::embedding

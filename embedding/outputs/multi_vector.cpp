#include "embedding/outputs/multi_vector.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/text/quote.h"
#include "embedding/outputs/max_sim.h"
#include "embedding/outputs/onnx_end.h"
#include "embedding/outputs/pooling.h"
#include "embedding/outputs/token_vectors.h"
#include "embedding/weights/open_tensors.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

bool declares_multi_vector(const Declaration& given) {
  return has_multi_vectors(given.contents.own, given.modules.listed, given.contents.config.read);
}

// Reads the size of a projection without a bias from its matrix. Returns kInvalidModel for another shape.
Result<DenseModule> projection_of(const TensorFile& tensors, std::string_view matrix, std::size_t width) {
  const std::vector<std::int64_t> shape = tensors.shape_of(matrix).value_or(std::vector<std::int64_t>());
  const bool fits = shape.size() == 2 && shape[0] > 0 && static_cast<std::size_t>(shape[0]) <= kHiddenSizeMax &&
                    shape[1] == static_cast<std::int64_t>(width);
  if (fits) return DenseModule{.place = "", .in = width, .out = static_cast<std::size_t>(shape[0]), .has_bias = false};
  return Status(StatusCode::kInvalidModel,
                fmt::format("{}: '{}' has the shape [{}]; a matrix of rows of {} numbers was expected", tensors.name(),
                            matrix, fmt::join(shape, ","), width));
}

// Reads the projection of Stanford's ColBERT, which is among the weights of the network.
Result<DenseModule> read_projection(const ModelFiles& files, const NetworkSpec& network) {
  constexpr std::string_view kName = "linear.weight";
  const std::size_t width = network.hidden_size;
  std::string name;
  for (const WeightsFile& weights : network.weights) {
    LB_ASSIGN_OR_RETURN(StoredFile stored, files.open_file(weights.file));
    LB_ASSIGN_OR_RETURN(const TensorFile tensors, open_tensors(std::move(stored.part), stored.name));
    name = tensors.name();
    if (tensors.contains(kName)) return projection_of(tensors, kName, width);
  }
  return Status(StatusCode::kInvalidModel, fmt::format("{}: there is no '{}', the projection of ColBERT", name, kName));
}

Result<std::shared_ptr<const Output>> read_multi_vector(const Declaration& given, const NetworkSpec& network) {
  MultiVectorOutput::Parameters read{.modules = given.modules.after_pooling,
                                     .normalize = given.modules.normalize,
                                     .is_stanford = !given.modules.listed,
                                     .dimension = network.hidden_size};
  if (read.is_stanford && !network.weights.empty()) {
    LB_ASSIGN_OR_RETURN(DenseModule projection, read_projection(given.files, network));
    read.modules.emplace_back(std::move(projection));
  }
  for (const VectorModule& module : read.modules) {
    if (const auto* const dense = std::get_if<DenseModule>(&module)) read.dimension = dense->out;
  }
  if (const auto& own = given.contents.own.read) {
    // Other functions belong to other kinds of models, and select the sum here.
    const Json* const compared = core::find_member(*own, "similarity_fn_name");
    read.compares_by_mean = compared != nullptr && *compared == "meanmaxsim";
  }
  return std::shared_ptr<const Output>(std::make_shared<const MultiVectorOutput>(std::move(read)));
}

// Reads the projection beside a dense model. Its first token has no vector, and documents are compared by the mean.
Result<std::shared_ptr<const Output>> read_colbert_linear(const Declaration& given, NetworkSpec& network) {
  const std::filesystem::path file = given.contents.transformer / kMultiVectorOutput.file_beside;
  LB_ASSIGN_OR_RETURN(StoredFile stored, given.files.open_file(file));
  LB_ASSIGN_OR_RETURN(const TensorFile tensors, open_tensors(std::move(stored.part), stored.name));
  LB_ASSIGN_OR_RETURN(DenseModule projection, projection_of(tensors, "weight", network.hidden_size));
  projection.place = "colbert_linear/";
  projection.has_bias = tensors.contains("bias");
  network.weights.push_back({.file = file, .place = projection.place + "linear."});
  return std::shared_ptr<const Output>(
      std::make_shared<const MultiVectorOutput>(MultiVectorOutput::Parameters{.modules = {projection},
                                                                              .normalize = true,
                                                                              .compares_by_mean = true,
                                                                              .leaves_first_out = true,
                                                                              .dimension = projection.out}));
}

}  // namespace

const OutputKind kMultiVectorOutput{
    .name = "multi_vector",
    .form = ResultForm::kRaggedRows,
    .noun = "vectors of tokens",
    .input = &kTextInput,
    .model = "multi-vector encoder",
    .purpose =
        "is a multi-vector encoder: it gives a vector for each token of a text; `latebind embed` has them, and "
        "`latebind search` and `latebind rerank` compare them",
    .programs = "MultiVectorEncoder",
    .heading = "vectors of tokens (latebind search, rerank)",
    .has_roles = true,
    .is_declared = declares_multi_vector,
    .read = read_multi_vector,
    .file_beside = "colbert_linear.pt",
    .read_beside = read_colbert_linear};

MultiVectorOutput::MultiVectorOutput(Parameters parameters)
    : Output(kMultiVectorOutput), parameters_(std::move(parameters)) {}

NetworkEnd MultiVectorOutput::end(bool /*from_states*/) const {
  return {.token_vectors = true, .modules = parameters_.modules, .normalize = parameters_.normalize};
}

// The file has the final vector of each token, except for its length.
Result<ModelEnd> MultiVectorOutput::find_end(const OnnxFile& file, bool /*from_states*/) const {
  LB_ASSIGN_OR_RETURN(ModelEnd end, choose_embedding_output(file.signature, file.name));
  const std::string shown = core::printable(file.signature.outputs[end.position].name);
  if (end.pooled) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: its output '{}' is pooled, it gives no token vectors", file.name, shown));
  }
  const std::size_t wanted = parameters_.is_stanford ? 0 : parameters_.dimension;
  const bool projects = !parameters_.modules.empty() || parameters_.is_stanford;
  if (end.dimension == 0) end.dimension = wanted;
  if (end.dimension == 0 || (projects && shown == "last_hidden_state")) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("{}: its output '{}' is the network's, and a projection of each token's vector is to "
                              "follow: that is supported with model.safetensors alone, or with a file that has it",
                              file.name, shown));
  }
  if (wanted != 0 && end.dimension != wanted) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: its output '{}' has {} numbers for a token; {} are due",
                                                         file.name, shown, end.dimension, wanted));
  }
  return end;
}

void MultiVectorOutput::take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& tokens,
                             RowTarget target, std::vector<float>& /*scratch*/) const {
  const std::size_t first = std::min(leading_left_out(), tokens.count);
  RowTokens taken = tokens;
  taken.count -= first;
  if (first > 0) taken.kept = {};
  float* const last = take_token_vectors(numbers.subspan(first * end.dimension), end.dimension, taken, target.numbers);
  if (!parameters_.normalize) return;
  for (float* vector = target.numbers; vector != last; vector += end.dimension)
    correct_length({vector, end.dimension});
}

Json MultiVectorOutput::describe() const {
  return {{"modules", describe_modules(parameters_.modules)},
          {"normalized", parameters_.normalize},
          {"compared_by", parameters_.compares_by_mean ? "meanmaxsim" : "maxsim"}};
}

float MultiVectorOutput::compare(std::span<const float> query, std::span<const float> document,
                                 std::size_t dimension) const {
  return parameters_.compares_by_mean ? mean_max_sim(query, document, dimension) : max_sim(query, document, dimension);
}

}  // namespace latebind::embedding

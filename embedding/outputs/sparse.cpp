#include "embedding/outputs/sparse.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/refusals.h"
#include "embedding/outputs/onnx_end.h"
#include "embedding/outputs/pooling.h"
#include "embedding/outputs/token_weights.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using core::Status;
using core::StatusCode;

namespace {

bool declares_sparse(const Declaration& given) {
  const Modules& modules = given.modules;
  return modules.pools_terms || modules.is_term_table ||
         (modules.listed && has_model_type(given.contents.own, "SparseEncoder"));
}

// Reads the rule of SpladePooling. Ignores the file's dimension, because vectors have a number for each entry of the
// vocabulary.
Result<SparseRule> read_pooling_rule(const ModelFiles& files, const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const Json config, read_module_config(files, file));
  constexpr std::array<std::string_view, 2> kStrategies{"max", "sum"};
  LB_ASSIGN_OR_RETURN(const std::string strategy, read_word(config, "pooling_strategy", file, kStrategies));
  constexpr std::array<std::string_view, 2> kFunctions{"relu", "log1p_relu"};
  LB_ASSIGN_OR_RETURN(const std::string function, read_word(config, "activation_function", file, kFunctions));
  return SparseRule{.log_twice = function == "log1p_relu", .sums = strategy == "sum"};
}

Status check_sparse_modules(const Declaration& given) {
  const Modules& modules = given.modules;
  const ConfigFile& own = given.contents.own;
  if (!modules.pools_terms && !modules.is_term_table && modules.latents_kept == 0) {
    return unsupported_file(given.files.place() / "modules.json",
                            "a SparseEncoder without SpladePooling, SparseAutoEncoder or SparseStaticEmbedding is not "
                            "supported");
  }
  if (modules.latents_kept > 0 && given.prompts.left_out)
    return unsupported_file(*modules.pooling_file, "'include_prompt' of a SparseEncoder must be true");
  if (own.read && !has_model_type(own, "SparseEncoder")) {
    return unsupported_file(own.file, "'model_type' is not SparseEncoder, but the modules are those of one");
  }
  return {};
}

Result<std::shared_ptr<const Output>> read_sparse_output(const Declaration& given, const NetworkSpec& network) {
  const Modules& modules = given.modules;
  const ConfigFile& own = given.contents.own;
  SparseRule rule;
  if (modules.pools_terms) {
    LB_ASSIGN_OR_RETURN(rule, read_pooling_rule(given.files, *modules.pooling_file));
  } else if (modules.latents_kept > 0) {
    rule = {.plain = true, .most = modules.latents_kept};
  }
  if (own.read) {
    constexpr std::size_t kMostMax = std::size_t{1} << 31;
    LB_ASSIGN_OR_RETURN(const auto most,
                        core::read_size(*own.read, "max_active_dims", 1, kMostMax, platform::path_to_utf8(own.file)));
    // As in the reference, a call's number of latents replaces the module's, whether it is larger or smaller.
    rule.most = most.value_or(rule.most);
  }
  SparseOutput::Parameters read{.rule = rule};
  if (const auto* const head = std::get_if<VocabularyHead>(&network.head)) read.head = *head;
  if (modules.latents_kept > 0) {
    read.pooling = modules.pooling;
    read.modules = modules.after_pooling;
  }
  return std::shared_ptr<const Output>(std::make_shared<const SparseOutput>(std::move(read)));
}

Result<NetworkHead> read_vocabulary_head(const Architecture& architecture, const Json& config,
                                         const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(VocabularyHead head, architecture.read_vocabulary(config, file));
  return NetworkHead(std::move(head));
}

constexpr HeadKind kVocabulary{
    .task = "masked language modelling",
    .transformer_task = "fill-mask",
    .is_known = [](const Architecture& architecture) { return architecture.read_vocabulary != nullptr; },
    .read = read_vocabulary_head};

}  // namespace

const OutputKind kSparseOutput{
    .name = "sparse",
    .form = ResultForm::kSparseRow,
    .noun = "sparse vectors of texts",
    .input = &kTextInput,
    .model = "sparse encoder",
    .hub_owner = "sparse-encoder",
    .purpose =
        "is a sparse encoder: it gives weights for the words of its vocabulary; `latebind embed` has them, and "
        "`latebind search` compares them",
    .programs = "SparseEncoder",
    .heading = "weights of terms (latebind search)",
    .may_have_routes = true,
    .is_declared = declares_sparse,
    .check_modules = check_sparse_modules,
    .find_head = [](const Modules& modules) { return modules.latents_kept > 0 ? nullptr : &kVocabulary; },
    .read = read_sparse_output,
    .file_beside = kTokenWeightsFile,
    .read_beside = read_token_weights};

SparseOutput::SparseOutput(Parameters parameters) : Output(kSparseOutput), parameters_(std::move(parameters)) {}

NetworkEnd SparseOutput::end(bool /*from_states*/) const {
  if (!parameters_.modules.empty()) return {.pooling = parameters_.pooling, .modules = parameters_.modules};
  return {.vocabulary = parameters_.head, .terms_of_tokens = parameters_.rule.sums};
}

// The file has a number for each token and entry of the vocabulary, or, as export_onnx.h writes it, the largest number
// for each text and entry.
Result<ModelEnd> SparseOutput::find_end(const OnnxFile& file, bool /*from_states*/) const {
  if (!parameters_.modules.empty()) return refuse_modules_of_onnx(file);
  const auto& outputs = file.signature.outputs;
  const bool pooled = outputs.size() == 1 && outputs.front().name == kTermLogits;
  LB_ASSIGN_OR_RETURN(const std::size_t position,
                      pooled ? Result<std::size_t>(0)
                             : choose_logits_output(file.signature, file.name, 3, "[batch, tokens, vocabulary]"));
  if (pooled && parameters_.rule.sums) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: its output '{}' is the largest number of all tokens, of "
                                                        "which 'pooling_strategy' sum needs each",
                                                        file.name, kTermLogits));
  }
  const auto& tensor = outputs[position];
  const std::int64_t declared = tensor.has_shape ? tensor.shape.back() : core::kDynamic;
  const std::size_t known = file.network.network ? file.network.network->vocabulary_size() : 0;
  if (declared <= 0 && known == 0) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: its output '{}' does not say how many entries the "
                                                         "vocabulary has",
                                                         file.name, core::printable(tensor.name)));
  }
  if (declared > 0 && known > 0 && static_cast<std::size_t>(declared) != known) {
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: its output '{}' has {} numbers for a token; the vocabulary has {} entries",
                              file.name, core::printable(tensor.name), declared, known));
  }
  return ModelEnd{
      .position = position, .pooled = pooled, .dimension = declared > 0 ? static_cast<std::size_t>(declared) : known};
}

void SparseOutput::take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& /*tokens*/,
                        RowTarget target, std::vector<float>& scratch) const {
  if (end.pooled) return read_sparse(numbers, parameters_.rule, *target.sparse);
  scratch.resize(end.dimension);
  if (parameters_.rule.sums) return sum_sparse(numbers, parameters_.rule, scratch, *target.sparse);
  pool(pooling(), numbers, scratch);
  read_sparse(scratch, parameters_.rule, *target.sparse);
}

Json SparseOutput::describe() const {
  const auto& rule = parameters_.rule;
  return {{"weight", rule.plain       ? "relu"
                     : rule.log_twice ? "log1p_log1p_relu"
                                      : "log1p_relu"},
          {"pooling", parameters_.rule.sums ? "sum" : "max"},
          {"weights_max", parameters_.rule.most}};
}

}  // namespace latebind::embedding

#include "embedding/outputs/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/modules.h"
#include "embedding/folder/refusals.h"
#include "embedding/inputs/prompts.h"
#include "embedding/outputs/onnx_end.h"

namespace latebind::embedding {

using core::Json;
using core::read_text;
using core::Result;
using core::Status;
using std::filesystem::path;

namespace {

constexpr std::size_t kLabelsMax = 4096;
constexpr std::size_t kTokenIdMax = std::size_t{1} << 31;
// The keys of LogitScore's config.json. The reference refuses others.
constexpr std::array<std::string_view, 3> kTokenScoreKeys{"true_token_id", "false_token_id", "module_input_name"};
// The name of a language model's logits in modules.json.
constexpr std::string_view kTokenNumbers = "causal_logits";

// Reads the names by number in "id2label", or "num_labels" without names. Without both, transformers assumes two.
Result<std::vector<std::string>> read_labels(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  const auto* const names = core::find_member(config, "id2label");
  if (names == nullptr) {
    LB_ASSIGN_OR_RETURN(const auto count, core::read_size(config, "num_labels", 1, kLabelsMax, name));
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < count.value_or(2); ++i)
      labels.push_back(fmt::format("LABEL_{}", i));
    return labels;
  }
  if (!names->is_object() || names->empty() || names->size() > kLabelsMax) {
    return invalid_file(file, fmt::format("'id2label' is not an object of 1 to {} labels", kLabelsMax));
  }
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < names->size(); ++i) {
    const auto label = names->find(fmt::format("{}", i));
    if (label == nullptr) return invalid_file(file, fmt::format("'id2label' has no label {}", i));
    labels.push_back(label->is_string() ? label->get<std::string>() : label->dump());
  }
  return labels;
}

// The function's name, and the file and key that declare it. find_function() looks for the newest form first.
struct NamedFunction {
  std::string name{};
  path file{};
  const char* key = "";
};
Result<NamedFunction> find_function(const ConfigFile& own, const Json& config, const path& config_file) {
  const auto named_in = [](const Json& object, const path& file, const char* key) -> Result<NamedFunction> {
    LB_ASSIGN_OR_RETURN(std::string name, read_text(object, key, "", platform::path_to_utf8(file)));
    return NamedFunction{.name = std::move(name), .file = file, .key = key};
  };
  constexpr const char* kKey = "activation_fn";
  if (own.read && own.read->contains(kKey) && !(*own.read)[kKey].is_null()) return named_in(*own.read, own.file, kKey);
  const auto* const older = core::find_member(config, "sentence_transformers");
  if (older != nullptr && older->is_object() && older->contains(kKey)) return named_in(*older, config_file, kKey);
  constexpr const char* kOldest = "sbert_ce_default_activation_function";
  if (config.contains(kOldest) && !config[kOldest].is_null()) return named_in(config, config_file, kOldest);
  return NamedFunction{};
}

struct KnownFunction {
  std::string_view torch_name;
  std::string_view name;
  ScoreFunction function{};
};
constexpr std::array kScoreFunctions{
    KnownFunction{"torch.nn.modules.linear.Identity", "identity", ScoreFunction::kIdentity},
    KnownFunction{"torch.nn.modules.activation.Sigmoid", "sigmoid", ScoreFunction::kSigmoid},
    KnownFunction{"torch.nn.modules.activation.Tanh", "tanh", ScoreFunction::kTanh}};

Result<ScoreFunction> read_function(const Declaration& given, std::size_t labels) {
  const ConfigFile& config = given.contents.config;
  LB_ASSIGN_OR_RETURN(const NamedFunction named, find_function(given.contents.own, *config.read, config.file));
  if (named.name.empty()) return labels == 1 ? ScoreFunction::kSigmoid : ScoreFunction::kIdentity;
  const auto* const found = std::ranges::find(kScoreFunctions, named.name, &KnownFunction::torch_name);
  if (found != kScoreFunctions.end()) return found->function;
  return unknown_word(named.file, named.key, named.name, core::words_of(kScoreFunctions, &KnownFunction::torch_name));
}

bool declares_score(const Declaration& given) {
  if (given.modules.listed) return has_model_type(given.contents.own, "CrossEncoder");
  const auto& config = given.contents.config.read;
  if (given.modules.scoring != nullptr) return true;
  return config && network_class(*config).ends_with("ForSequenceClassification");
}

// Returns whether the default prompt does not exist. Other kinds of models have two additional prompts in the
// reference.
bool names_no_prompt(const ConfigFile& own) {
  if (!own.read) return false;
  const auto* const name = core::find_member(*own.read, "default_prompt_name");
  if (name == nullptr || !name->is_string()) return false;
  const auto* const prompts = core::find_member(*own.read, "prompts");
  return prompts == nullptr || !prompts->is_object() || !prompts->contains(name->text());
}

// Reads the tokens of LogitScore, whose logits give the score. `vocabulary` is 0 if it is unknown.
Status read_score_tokens(const Declaration& given, std::size_t vocabulary, TokenHead& head) {
  const path& file = *given.modules.token_score_file;
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const Json config, read_module_config(given.files, file));
  for (const auto& [key, value] : config.members()) {
    if (std::ranges::find(kTokenScoreKeys, key) != kTokenScoreKeys.end()) continue;
    return unsupported_file(file, fmt::format("'{}' is not supported{}", core::printable(key),
                                              core::supported_instead(key, kTokenScoreKeys)));
  }
  const std::size_t most = (vocabulary == 0 ? kTokenIdMax : vocabulary) - 1;
  LB_ASSIGN_OR_RETURN(const auto true_token, core::read_size(config, "true_token_id", 0, most, name));
  LB_ASSIGN_OR_RETURN(const auto false_token, core::read_size(config, "false_token_id", 0, most, name));
  if (!true_token) return invalid_file(file, "'true_token_id' is missing");
  head.true_token = static_cast<std::uint32_t>(*true_token);
  if (false_token) head.false_token = static_cast<std::uint32_t>(*false_token);
  if (false_token == true_token)
    return invalid_file(file, "'true_token_id' and 'false_token_id' are the same: all scores would be 0");
  LB_ASSIGN_OR_RETURN(const std::string input, read_text(config, "module_input_name", kTokenNumbers, name));
  if (input == kTokenNumbers) return {};
  return unsupported_file(
      file, fmt::format("'module_input_name' is '{}'; only {} is supported", core::printable(input), kTokenNumbers));
}

Result<std::shared_ptr<const Output>> read_score_output(const Declaration& given, const NetworkSpec& network) {
  const Modules& modules = given.modules;
  const ConfigFile& config = given.contents.config;
  if (!config.read || (!modules.only_network() && !modules.scores && modules.listed)) {
    return unsupported_file(given.files.place() / "modules.json", "a CrossEncoder of modules that give no scores");
  }
  ScoreOutput::Parameters read{.pooling = modules.pooling, .modules = modules.after_pooling};
  const auto& scoring = given.contents.scoring;
  if (modules.token_score_file || scoring) {
    // A ready ONNX file has its head.
    const auto* const head = std::get_if<TokenHead>(&network.head);
    read.token = head != nullptr ? *head : TokenHead();
    const std::size_t vocabulary = network.network != nullptr ? network.network->vocabulary_size() : 0;
    if (scoring) {
      if (vocabulary != 0 && scoring->true_token >= vocabulary) {
        return invalid_file(given.contents.tokenizer_file,
                            fmt::format("the token {} of '{}' is not in the network's vocabulary of {}",
                                        scoring->true_token, scoring->code->true_word, vocabulary));
      }
      read.token->true_token = scoring->true_token;
      read.temperature = scoring->code->temperature.value_or(1);
    } else {
      LB_RETURN_IF_ERROR(read_score_tokens(given, vocabulary, *read.token));
    }
    read.labels.emplace_back("LABEL_0");
  } else if (modules.scores) {
    const std::size_t count = std::get<DenseModule>(modules.after_pooling.back()).out;
    for (std::size_t i = 0; i < count; ++i)
      read.labels.push_back(fmt::format("LABEL_{}", i));
  } else {
    LB_ASSIGN_OR_RETURN(read.labels, read_labels(*config.read, config.file));
  }
  if (scoring) {
    read.function = scoring->code->temperature ? ScoreFunction::kSigmoid : ScoreFunction::kIdentity;
  } else {
    LB_ASSIGN_OR_RETURN(read.function, read_function(given, read.labels.size()));
  }
  if (names_no_prompt(given.contents.own)) {
    return invalid_file(given.contents.own.file,
                        "'default_prompt_name' of a CrossEncoder must be the name of one of its 'prompts'");
  }
  if (const auto* const head = std::get_if<ClassifierHead>(&network.head)) {
    read.head = *head;
    read.head->labels = read.labels.size();
  }
  return std::shared_ptr<const Output>(std::make_shared<const ScoreOutput>(std::move(read)));
}

// Returns the end of a ready ONNX file with a number for each entry of the vocabulary, at each token.
Result<ModelEnd> find_token_logits(const OnnxFile& file, const TokenHead& token) {
  LB_ASSIGN_OR_RETURN(const std::size_t position,
                      choose_logits_output(file.signature, file.name, 3, "[batch, tokens, vocabulary]"));
  const auto& tensor = file.signature.outputs[position];
  const std::int64_t declared = tensor.has_shape ? tensor.shape.back() : -1;
  const std::size_t known = file.network.network ? file.network.network->vocabulary_size() : 0;
  const std::size_t size = declared > 0 ? static_cast<std::size_t>(declared) : known;
  const std::size_t largest = std::max(token.true_token, token.false_token.value_or(0));
  if (largest < size) return ModelEnd{.position = position, .pooled = false, .dimension = size};
  return Status(
      core::StatusCode::kInvalidModel,
      fmt::format("{}: its output '{}' has {} numbers for a token, and the score is that of token {}", file.name,
                  core::printable(tensor.name), size == 0 ? "an unknown number of" : fmt::format("{}", size), largest));
}

Result<NetworkHead> read_classifier_head(const Architecture& architecture, const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(ClassifierHead head, architecture.read_classifier(config, file));
  return NetworkHead(std::move(head));
}

Result<NetworkHead> read_head_of_token(const Architecture& architecture, const Json& config, const path& file) {
  LB_ASSIGN_OR_RETURN(TokenHead head, architecture.read_token(config, file));
  return NetworkHead(std::move(head));
}

constexpr HeadKind kLanguageModel{
    .task = "language modelling",
    .transformer_task = "text-generation",
    .module_output_name = kTokenNumbers,
    .is_known = [](const Architecture& architecture) { return architecture.read_token != nullptr; },
    .read = read_head_of_token};

constexpr HeadKind kClassifier{
    .task = "sequence classification",
    .transformer_task = "sequence-classification",
    .is_default_task = true,
    .module_output_name = "scores",
    .is_known = [](const Architecture& architecture) { return architecture.read_classifier != nullptr; },
    .read = read_classifier_head};

const HeadKind* head_for(const Modules& modules) {
  if (modules.token_score_file || modules.scoring != nullptr) return &kLanguageModel;
  return modules.only_network() ? &kClassifier : nullptr;
}

}  // namespace

const OutputKind kScoreOutput{
    .name = "score",
    .form = ResultForm::kRow,
    .noun = "scores",
    .input = &kPairInput,
    .model = "cross-encoder",
    .hub_owner = "cross-encoder",
    .purpose = "is a cross-encoder: it gives scores for two texts together, and no vectors; `latebind rerank` has them",
    .programs = "CrossEncoder",
    .heading = "scores for a query and a text (latebind rerank, search --rerank)",
    .is_declared = declares_score,
    .find_head = head_for,
    .read = read_score_output};

ScoreOutput::ScoreOutput(Parameters parameters) : Output(kScoreOutput), parameters_(std::move(parameters)) {}

NetworkEnd ScoreOutput::end(bool /*from_states*/) const {
  return {.classifier = parameters_.head,
          .token = parameters_.token,
          .pooling = parameters_.pooling,
          .modules = parameters_.modules};
}

Result<ModelEnd> ScoreOutput::find_end(const OnnxFile& file, bool /*from_states*/) const {
  if (!parameters_.modules.empty()) return refuse_modules_of_onnx(file);
  if (parameters_.token) return find_token_logits(file, *parameters_.token);
  LB_ASSIGN_OR_RETURN(const std::size_t position,
                      choose_logits_output(file.signature, file.name, 2, "[batch, labels]"));
  return ModelEnd{.position = position, .pooled = true, .dimension = parameters_.labels.size()};
}

std::size_t ScoreOutput::row_size(const ModelEnd& end) const {
  return end.pooled ? end.dimension : 1;
}

void ScoreOutput::take(std::span<const float> numbers, const ModelEnd& end, const RowTokens& /*tokens*/,
                       RowTarget target, std::vector<float>& /*scratch*/) const {
  if (end.pooled) {
    std::ranges::copy(numbers, target.numbers);
    return;
  }
  const auto last = numbers.last(end.dimension);
  const TokenHead& token = *parameters_.token;
  *target.numbers = last[token.true_token] - (token.false_token ? last[*token.false_token] : 0);
}

Json ScoreOutput::describe() const {
  Json described = {
      {"labels", parameters_.labels},
      {"activation", std::ranges::find(kScoreFunctions, parameters_.function, &KnownFunction::function)->name}};
  if (parameters_.temperature != 1) described["temperature"] = parameters_.temperature;
  if (parameters_.token) {
    described["true_token"] = parameters_.token->true_token;
    if (parameters_.token->false_token) described["false_token"] = *parameters_.token->false_token;
  }
  return described;
}

void ScoreOutput::activate(std::span<float> numbers) const {
  if (parameters_.function == ScoreFunction::kIdentity) return;
  for (float& number : numbers)
    number =
        parameters_.function == ScoreFunction::kTanh ? std::tanh(number) : sigmoid(number / parameters_.temperature);
}

float sigmoid(float number) {
  return 1.0F / (1.0F + std::exp(-number));
}

}  // namespace latebind::embedding

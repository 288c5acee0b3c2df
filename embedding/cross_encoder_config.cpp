#include "embedding/cross_encoder_config.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "core/json_text.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/known_words.h"
#include "embedding/refusals.h"

namespace latebind::embedding {

using core::printable;
using core::read_text;
using core::Result;
using nlohmann::json;
using std::filesystem::path;

namespace {

constexpr std::size_t kLabelsMax = 4096;

// Names by number in "id2label", or "num_labels" without names; transformers takes two where there is neither.
Result<std::vector<std::string>> read_labels(const json& config, const path& file) {
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
    return invalid_file(file, fmt::format("'id2label' is no object of 1 to {} labels", kLabelsMax));
  }
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < names->size(); ++i) {
    const auto label = names->find(fmt::format("{}", i));
    if (label == names->end()) return invalid_file(file, fmt::format("'id2label' has no label {}", i));
    labels.push_back(label->is_string() ? label->get<std::string>() : label->dump());
  }
  return labels;
}

// The name that the files have for the function, the newest form first, and the file that has it.
struct NamedFunction {
  std::string name{};
  path file{};
  const char* key = "";
};
Result<NamedFunction> find_function(const ConfigFile& own, const json& config, const path& config_file) {
  const auto named_in = [](const json& object, const path& file, const char* key) -> Result<NamedFunction> {
    LB_ASSIGN_OR_RETURN(std::string name, read_text(object, key, "", platform::path_to_utf8(file)));
    return NamedFunction{.name = std::move(name), .file = file, .key = key};
  };
  constexpr const char* kKey = "activation_fn";
  if (own.read && own.read->contains(kKey) && !own.read->at(kKey).is_null()) return named_in(*own.read, own.file, kKey);
  const auto* const older = core::find_member(config, "sentence_transformers");
  if (older != nullptr && older->is_object() && older->contains(kKey)) return named_in(*older, config_file, kKey);
  constexpr const char* kOldest = "sbert_ce_default_activation_function";
  if (config.contains(kOldest) && !config.at(kOldest).is_null()) return named_in(config, config_file, kOldest);
  return NamedFunction{};
}

}  // namespace

Result<CrossEncoderConfig> read_cross_encoder(const ConfigFile& own, const json& config, const path& config_file,
                                              std::optional<std::size_t> labels) {
  CrossEncoderConfig read;
  if (labels) {
    for (std::size_t i = 0; i < *labels; ++i)
      read.labels.push_back(fmt::format("LABEL_{}", i));
  } else {
    LB_ASSIGN_OR_RETURN(read.labels, read_labels(config, config_file));
  }
  LB_ASSIGN_OR_RETURN(const NamedFunction named, find_function(own, config, config_file));
  constexpr std::array<std::string_view, 2> kFunctions{"torch.nn.modules.linear.Identity",
                                                       "torch.nn.modules.activation.Sigmoid"};
  if (named.name == kFunctions[0]) {
    read.function = ScoreFunction::kIdentity;
  } else if (named.name == kFunctions[1]) {
    read.function = ScoreFunction::kSigmoid;
  } else if (named.name.empty()) {
    read.function = read.labels.size() == 1 ? ScoreFunction::kSigmoid : ScoreFunction::kIdentity;
  } else {
    return unknown_word(named.file, named.key, named.name, kFunctions);
  }
  return read;
}

}  // namespace latebind::embedding

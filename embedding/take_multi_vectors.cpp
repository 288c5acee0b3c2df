#include "embedding/take_multi_vectors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/json_text.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/model_folder.h"
#include "embedding/refusals.h"
#include "embedding/safetensors.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

namespace latebind::embedding {

using core::printable;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;
using nlohmann::json;
using std::filesystem::path;

namespace {

// The projection of Stanford's ColBERT, which is among the weights of the network.
Result<DenseModule> read_projection(const ModelFolder& model) {
  constexpr std::string_view kName = "linear.weight";
  std::string names;
  for (const WeightsFile& weights : model.weights) {
    LB_ASSIGN_OR_RETURN(StoredFile stored, model.files.open_file(weights.file));
    LB_ASSIGN_OR_RETURN(const Safetensors tensors, Safetensors::from_part(std::move(stored.part), stored.name));
    names = tensors.name();
    const auto shape = tensors.shape_of(kName);
    if (!shape) continue;
    const bool fits = shape->size() == 2 && (*shape)[0] > 0 &&
                      static_cast<std::size_t>((*shape)[0]) <= kHiddenSizeMax &&
                      (*shape)[1] == static_cast<std::int64_t>(model.hidden_size);
    if (fits) {
      return DenseModule{
          .place = "", .in = model.hidden_size, .out = static_cast<std::size_t>((*shape)[0]), .has_bias = false};
    }
    return Status(StatusCode::kInvalidModel,
                  fmt::format("{}: '{}' has the shape [{}]; a matrix of rows of {} numbers was expected", names, kName,
                              fmt::join(*shape, ","), model.hidden_size));
  }
  return Status(StatusCode::kInvalidModel,
                fmt::format("{}: there is no '{}', the projection of ColBERT", names, kName));
}

// What queries are filled up with where the files do not say it: the tokenizer's mask token or, where it has none, the
// one at the end of a text.
Status find_filling(const ModelFolder& model, const std::optional<json>& tokenizer_config, const path& transformer,
                    std::string& token) {
  LB_ASSIGN_OR_RETURN(const auto map,
                      read_object(model.files, transformer / kSpecialTokensFile, kTokenizerConfigLimits));
  for (const auto role : {SpecialTokens::kMask, SpecialTokens::kEos}) {
    auto named = named_token(tokenizer_config, map, role);
    if (!named.ok()) return named.status().with_context(platform::path_to_utf8(transformer));
    token = *std::move(named);
    if (!token.empty()) return {};
  }
  return unsupported_file(
      transformer / kTokenizerConfigFile,
      "it names neither a 'mask_token' nor an 'eos_token', one of which queries are filled up with");
}

// What pads a tokenizer's texts at their beginning, where queries are filled up at their end.
Status refuse_left_padding(const ModelFolder& model, const std::optional<json>& tokenizer_config,
                           const path& transformer) {
  if (!model.multi_vector.query.expansion) return {};
  std::string side;
  path file = transformer / kTokenizerConfigFile;
  if (tokenizer_config) {
    LB_ASSIGN_OR_RETURN(side, read_text(*tokenizer_config, "padding_side", "", platform::path_to_utf8(file)));
  }
  if (side.empty() && model.tokenizer_class == nullptr) {
    file = model.tokenizer_file;
    LB_ASSIGN_OR_RETURN(const auto tokenizer, read_object(model.files, file, {.bytes_max = Tokenizer::kFileBytesMax}));
    const auto* const padding = tokenizer ? core::find_member(*tokenizer, "padding") : nullptr;
    if (padding != nullptr && padding->is_object()) {
      LB_ASSIGN_OR_RETURN(side, read_text(*padding, "direction", "Right", platform::path_to_utf8(file)));
    }
  }
  if (side.empty() || side == "right" || side == "Right") return {};
  return unsupported_file(file, fmt::format("texts are padded to the '{}', and queries are filled up: only padding to "
                                            "the right is supported then",
                                            printable(side)));
}

}  // namespace

Status take_multi_vectors(const MultiVectorFiles& given, ModelFolder& model) {
  const auto& [modules, own, of_transformer, tokenizer_config, positions] = given;
  if (!modules.listed && !model.weights.empty()) {
    LB_ASSIGN_OR_RETURN(DenseModule projection, read_projection(model));
    model.behind_pooling.emplace_back(std::move(projection));
  }
  MultiVectorConfig& read = model.multi_vector;
  LB_ASSIGN_OR_RETURN(read, read_multi_vectors(model.files, modules, own, of_transformer));
  const path file = of_transformer.read ? of_transformer.file
                    : modules.listed    ? own.file
                                        : model.files.place() / kColbertFile;
  const auto& expansion = read.query.expansion;
  if (expansion && expansion->length > positions) {
    return unsupported_file(
        file, fmt::format("queries are filled up to {} tokens; the network takes {}", expansion->length, positions));
  }
  read.document.length = std::min(read.document.length.value_or(model.max_tokens), positions);
  std::size_t query = std::min(read.query.length.value_or(model.max_tokens), positions);
  if (expansion) query = expansion->cuts ? expansion->length : std::max(query, expansion->length);
  read.query.length = query;
  // By these names they are to be had of callers, too.
  if (modules.listed) {
    for (const auto& [name, role] : {std::pair{"query", &read.query}, std::pair{"document", &read.document}}) {
      if (!role->prompt.empty()) model.prompts.by_name[name] = role->prompt;
    }
  }
  LB_RETURN_IF_ERROR(refuse_left_padding(model, tokenizer_config, modules.transformer));
  if (auto& filling = read.query.expansion; filling && filling->token.empty()) {
    const path map = modules.transformer / kSpecialTokensFile;
    LB_RETURN_IF_ERROR(find_filling(model, tokenizer_config, modules.transformer, filling->token));
    const bool is_known = std::ranges::find(model.small_files, map) != model.small_files.end();
    if (!is_known && model.files.has(map)) model.small_files.push_back(map);
  }
  return {};
}

}  // namespace latebind::embedding

#include "embedding/folder/read_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/folder/refusals.h"
#include "embedding/inputs/prompts.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/named_token.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::printable_json;
using core::read_bool;
using core::read_size;
using core::read_text;
using core::Result;
using core::Status;
using std::filesystem::path;

namespace {

constexpr std::size_t kWordsMax = 4096;
constexpr std::size_t kWordBytesMax = 256;
constexpr std::size_t kOnlyMax = std::size_t{1} << 20;
constexpr std::size_t kQueryTokens = 32;  // the length of filled queries if the files name none
constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

std::vector<std::string> punctuation() {
  std::vector<std::string> words;
  for (const char c : kPunctuation)
    words.emplace_back(1, c);
  return words;
}

// Reads a list of texts; std::nullopt if the key is absent.
Result<std::optional<std::vector<std::string>>> read_words(const Json& object, const char* key, const path& file) {
  const Json* const found = core::find_member(object, key);
  if (found == nullptr) return std::optional<std::vector<std::string>>();
  if (!found->is_array() || found->size() > kWordsMax) {
    return invalid_file(file, fmt::format("'{}' is not a list of at most {} texts", key, kWordsMax));
  }
  std::vector<std::string> words;
  for (const Json& word : *found) {
    if (!word.is_string() || word.text().size() > kWordBytesMax) {
      return invalid_file(file, fmt::format("'{}' has {}, which is not a text of at most {} bytes", key,
                                            printable_json(word), kWordBytesMax));
    }
    words.push_back(word.get<std::string>());
  }
  return std::optional(std::move(words));
}

// The roles to which a module applies; "document" if the file names none.
struct Tasks {
  bool document = true;
  bool query = false;
};
Result<Tasks> read_tasks(const Json& config, const char* key, const path& file) {
  const Json* const found = core::find_member(config, key);
  if (found == nullptr) return Tasks();
  Tasks roles{.document = false, .query = false};
  constexpr std::array<std::string_view, 2> kRoles{"query", "document"};
  const auto add = [&](const Json& name) -> Status {
    if (name == kRoles[1]) {
      roles.document = true;
    } else if (name == kRoles[0]) {
      roles.query = true;
    } else {
      return unsupported_file(file, fmt::format("'{}' has {}{}", key, printable_json(name),
                                                core::supported_instead(printable_json(name), kRoles)));
    }
    return {};
  };
  if (found->is_string()) {
    LB_RETURN_IF_ERROR(add(*found));
    return roles;
  }
  if (!found->is_array() || found->size() > kWordsMax) {
    return invalid_file(file, fmt::format("'{}' is not a list of query and document", key));
  }
  for (const Json& name : *found)
    LB_RETURN_IF_ERROR(add(name));
  return roles;
}

Status read_mask(const Json& config, const path& file, Roles& read) {
  LB_ASSIGN_OR_RETURN(auto words, read_words(config, "skiplist_words", file));
  LB_ASSIGN_OR_RETURN(const Tasks roles, read_tasks(config, "skiplist_tasks", file));
  if (words && roles.query) read.query.left_out = *words;
  if (words && roles.document) read.document.left_out = *std::move(words);
  const Json* const only = core::find_member(config, "keep_only_token_ids");
  if (only == nullptr) return {};
  if (!only->is_array() || only->size() > kOnlyMax) {
    return invalid_file(file, fmt::format("'keep_only_token_ids' is not a list of at most {} ids", kOnlyMax));
  }
  constexpr std::int64_t kIdMax = std::numeric_limits<std::int32_t>::max();
  for (const Json& id : *only) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::int64_t>() > kIdMax) {
      return invalid_file(file, fmt::format("'keep_only_token_ids' has {}, which is not an id", printable_json(id)));
    }
    read.document.only.push_back(id.get<std::int32_t>());
  }
  std::ranges::sort(read.document.only);
  return {};
}

// Reads the value of "query_expansion".
Result<QueryExpansion> read_expansion(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file) + ": query_expansion";
  if (!config.is_object()) return invalid_file(file, "'query_expansion' is not an object");
  for (const auto& [key, value] : config.members()) {
    constexpr std::array<std::string_view, 4> kKnown{"strategy", "attend", "token", "length"};
    if (std::ranges::find(kKnown, key) != kKnown.end()) continue;
    return unsupported_file(
        file, fmt::format("'query_expansion' has '{}'{}", printable(key), core::supported_instead(key, kKnown)));
  }
  QueryExpansion read;
  constexpr std::array<std::string_view, 2> kStrategies{"fixed", "min"};
  LB_ASSIGN_OR_RETURN(const std::string strategy, read_text(config, "strategy", "", name));
  if (std::ranges::find(kStrategies, strategy) == kStrategies.end()) {
    return unsupported_file(file, fmt::format("'strategy' of 'query_expansion' is '{}'{}", printable(strategy),
                                              core::supported_instead(strategy, kStrategies)));
  }
  read.cuts = strategy == "fixed";
  LB_ASSIGN_OR_RETURN(read.attend, read_bool(config, "attend", false, name));
  LB_ASSIGN_OR_RETURN(read.token, read_text(config, "token", "", name));
  if (read.token.size() > kWordBytesMax || (read.token.empty() && core::find_member(config, "token") != nullptr)) {
    return invalid_file(file,
                        fmt::format("'token' of 'query_expansion' is not a text of 1 to {} bytes", kWordBytesMax));
  }
  LB_ASSIGN_OR_RETURN(const auto length, read_size(config, "length", 1, kTokensMax, name));
  if (!length) return invalid_file(file, "'length' of 'query_expansion' is missing");
  read.length = *length;
  return read;
}

// The lengths and the expansion, in the keys that sentence_bert_config.json and PyLate share. Values from an earlier
// file take precedence.
struct Lengths {
  std::optional<std::size_t> query{};
  std::optional<std::size_t> document{};
  bool has_expansion = false;
  std::optional<QueryExpansion> expansion{};
};
Status read_lengths(const Json& config, const path& file, Lengths& read) {
  const std::string name = platform::path_to_utf8(file);
  const auto take = [&](const char* key, std::optional<std::size_t>& into) -> Status {
    if (into) return {};
    LB_ASSIGN_OR_RETURN(into, read_size(config, key, 1, kTokensMax, name));
    return {};
  };
  LB_RETURN_IF_ERROR(take("query_length", read.query));
  LB_RETURN_IF_ERROR(take("document_length", read.document));
  if (read.has_expansion || !config.contains("query_expansion")) return {};
  read.has_expansion = true;
  if (const Json* const given = core::find_member(config, "query_expansion")) {
    LB_ASSIGN_OR_RETURN(read.expansion, read_expansion(*given, file));
  }
  return {};
}

// Reads PyLate's expansion, if "query_expansion" is absent: PyLate fills queries up to its length of queries unless the
// file disables it.
Result<std::optional<QueryExpansion>> read_pylate_expansion(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const bool expands, read_bool(config, "do_query_expansion", true, name));
  if (!expands) return std::optional<QueryExpansion>();
  LB_ASSIGN_OR_RETURN(const auto length, read_size(config, "query_length", 1, kTokensMax, name));
  QueryExpansion expansion{.length = length.value_or(kQueryTokens)};
  const bool is_new = config.contains("attend_to_expansion_tokens");
  LB_ASSIGN_OR_RETURN(expansion.attend,
                      read_bool(config, is_new ? "attend_to_expansion_tokens" : "attend_to_mask_tokens", false, name));
  return std::optional(std::move(expansion));
}

// Returns the prompt of a role: PyLate's marker, once, and the file's prompt.
Result<std::string> read_prompt(const Json& config, const path& file, const char* role, const char* marker_key,
                                Roles& read) {
  const std::string name = platform::path_to_utf8(file);
  std::string prompt;
  if (const Json* const prompts = core::find_member(config, "prompts"); prompts != nullptr && prompts->is_object()) {
    LB_ASSIGN_OR_RETURN(prompt, read_text(*prompts, role, "", name));
  }
  LB_ASSIGN_OR_RETURN(const std::string marker, read_text(config, marker_key, "", name));
  if (prompt.size() > kPromptBytesMax || marker.size() > kPromptBytesMax) {
    return invalid_file(file, fmt::format("the prompt of '{}' has more than {} bytes", role, kPromptBytesMax));
  }
  if (marker.empty()) return prompt;
  read.markers.push_back(marker);
  return prompt.starts_with(marker) ? prompt : marker + prompt;
}

// Reads the prompts, the lengths and PyLate's keys from `own`.
Status read_own(const Modules& modules, const ConfigFile& own, Lengths& lengths, Roles& read) {
  const Json& config = *own.read;
  LB_ASSIGN_OR_RETURN(read.query.prompt, read_prompt(config, own.file, "query", "query_prefix", read));
  LB_ASSIGN_OR_RETURN(read.document.prompt, read_prompt(config, own.file, "document", "document_prefix", read));
  // The network's file takes precedence over PyLate's.
  const std::optional<std::size_t> of_network = lengths.query;
  LB_RETURN_IF_ERROR(read_lengths(config, own.file, lengths));
  if (!lengths.has_expansion && has_pylate_keys(config)) {
    LB_ASSIGN_OR_RETURN(lengths.expansion, read_pylate_expansion(config, own.file));
    if (lengths.expansion) lengths.query = of_network;
  }
  if (modules.mask_file) return {};
  // Without a mask module, the words are in this file, as in PyLate.
  LB_ASSIGN_OR_RETURN(auto words, read_words(config, "skiplist_words", own.file));
  const bool means_punctuation = modules.adds_token_ends && (is_colbert(config) || config.contains("query_prefix") ||
                                                             config.contains("document_prefix"));
  if (words && modules.adds_token_ends) {
    read.document.left_out = *std::move(words);
  } else if (!words && means_punctuation) {
    read.document.left_out = punctuation();
  }
  return {};
}

// Reads the roles of Stanford's ColBERT, which always fills queries up.
Status read_stanford(const ModelFiles& files, Lengths& lengths, Roles& read) {
  const path file = files.place() / kColbertFile;
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const auto found, read_object(files, file));
  const Json config = found ? *found : Json::object();
  const auto marker = [&](const char* key, std::string_view otherwise) -> Result<std::string> {
    LB_ASSIGN_OR_RETURN(std::string text, read_text(config, key, otherwise, name));
    if (text.size() > kWordBytesMax) {
      return invalid_file(file, fmt::format("'{}' has more than {} bytes", key, kWordBytesMax));
    }
    return (text.empty() ? std::string(otherwise) : text) + " ";
  };
  LB_ASSIGN_OR_RETURN(read.query.prompt, marker("query_token_id", "[unused0]"));
  LB_ASSIGN_OR_RETURN(read.document.prompt, marker("doc_token_id", "[unused1]"));
  read.markers = {read.query.prompt, read.document.prompt};
  LB_ASSIGN_OR_RETURN(lengths.document, read_size(config, "doc_maxlen", 1, kTokensMax, name));
  LB_ASSIGN_OR_RETURN(const auto length, read_size(config, "query_maxlen", 1, kTokensMax, name));
  QueryExpansion expansion{.length = length.value_or(kQueryTokens)};
  LB_ASSIGN_OR_RETURN(expansion.attend, read_bool(config, "attend_to_mask_tokens", false, name));
  lengths.expansion = std::move(expansion);
  LB_ASSIGN_OR_RETURN(const bool masks, read_bool(config, "mask_punctuation", true, name));
  if (masks) read.document.left_out = punctuation();
  return {};
}

// Returns the token that fills up queries if the files name none: the tokenizer's mask token, else its end-of-text
// token.
Result<std::string> find_filling(const ModelFiles& files, const FolderContents& contents) {
  const path& folder = contents.tokenizer;
  LB_ASSIGN_OR_RETURN(const auto map, read_object(files, folder / kSpecialTokensFile, kTokenizerConfigLimits));
  for (const auto role : {SpecialTokens::kMask, SpecialTokens::kEos}) {
    auto named = named_token(contents.tokenizer_config.read, map, role);
    if (!named.ok()) return named.status().with_context(platform::path_to_utf8(folder));
    if (!named->empty()) return named;
  }
  return unsupported_file(
      contents.tokenizer_config.file,
      "it names neither a 'mask_token' nor an 'eos_token', one of which queries are filled up with");
}

// Refuses tokenizers that pad texts at their beginning, because queries are filled up at their end.
Status refuse_left_padding(const ModelFiles& files, const FolderContents& contents) {
  std::string side;
  path file = contents.tokenizer_config.file;
  if (contents.tokenizer_config.read) {
    LB_ASSIGN_OR_RETURN(side,
                        read_text(*contents.tokenizer_config.read, "padding_side", "", platform::path_to_utf8(file)));
  }
  if (side.empty() && contents.tokenizer_class == nullptr) {
    file = contents.tokenizer_file;
    LB_ASSIGN_OR_RETURN(const auto tokenizer, read_object(files, file, {.bytes_max = Tokenizer::kFileBytesMax}));
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

Result<Roles> read_roles(const ModelFiles& files, const Modules& modules, const FolderContents& contents,
                         std::size_t max_tokens, std::size_t positions) {
  const auto& [own, of_transformer] = std::tie(contents.own, contents.of_transformer);
  Roles read;
  Lengths lengths;
  path file = files.place() / kColbertFile;
  if (!modules.listed) {
    LB_RETURN_IF_ERROR(read_stanford(files, lengths, read));
  } else {
    file = of_transformer.read ? of_transformer.file : own.file;
    if (of_transformer.read) LB_RETURN_IF_ERROR(read_lengths(*of_transformer.read, of_transformer.file, lengths));
    if (modules.mask_file) {
      LB_ASSIGN_OR_RETURN(const auto mask, read_object(files, *modules.mask_file));
      if (mask) LB_RETURN_IF_ERROR(read_mask(*mask, *modules.mask_file, read));
    }
    read.keeps_expansion = modules.mask_file.has_value() || modules.adds_token_ends;
    if (own.read) LB_RETURN_IF_ERROR(read_own(modules, own, lengths, read));
    if (lengths.expansion && lengths.query && *lengths.query < lengths.expansion->length) {
      return invalid_file(file, fmt::format("'query_length' is {}, less than the {} tokens that queries are filled up "
                                            "to",
                                            *lengths.query, lengths.expansion->length));
    }
  }
  read.query.length = std::min(lengths.query.value_or(max_tokens), positions);
  read.document.length = std::min(lengths.document.value_or(max_tokens), positions);
  if (!lengths.expansion) return read;
  QueryExpansion& expansion = read.query.expansion.emplace(*std::move(lengths.expansion));
  if (expansion.length > positions) {
    return unsupported_file(
        file, fmt::format("queries are filled up to {} tokens; the network takes {}", expansion.length, positions));
  }
  read.query.length = expansion.cuts ? expansion.length : std::max(read.query.length, expansion.length);
  LB_RETURN_IF_ERROR(refuse_left_padding(files, contents));
  if (expansion.token.empty()) {
    LB_ASSIGN_OR_RETURN(expansion.token, find_filling(files, contents));
  }
  return read;
}

}  // namespace latebind::embedding

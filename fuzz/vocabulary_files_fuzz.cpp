// Fuzzes what tokenizers of folders without a tokenizer.json are made of: outside bytes as a model of SentencePiece, as
// a list of words, and as a vocabulary in JSON with its merges.
//
// Byte 0 chooses: 'X', 'C', 'A': the rest is a model, for XLM-RoBERTa, CamemBERT or ALBERT; 'W': a list of words; 'B':
// a vocabulary, up to a NUL byte if there is one, and behind it the merges; 'J': tokenizer_config.json, up to a NUL
// byte, and behind it a list of words.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/read.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

namespace {

using namespace latebind;

void require(bool holds) {
  if (!holds) std::abort();
}

const embedding::TokenizerClass& class_named(std::string_view name) {
  const auto found = embedding::find_tokenizer_class({{"tokenizer_class", name}}, std::nullopt, {});
  require(found.ok());
  return **found;
}

const char* name_of_class(char kind) {
  switch (kind) {
    case 'X':
      return "XLMRobertaTokenizer";
    case 'C':
      return "CamembertTokenizer";
    case 'A':
      return "AlbertTokenizer";
    case 'B':
      return "RobertaTokenizer";
    case 'W':
    case 'J':
      return "BertTokenizer";
    default:
      return nullptr;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const char kind = text.front();
  const char* const name = name_of_class(kind);
  if (name == nullptr) return 0;
  const std::string_view first = text.substr(1);
  embedding::VocabularyFiles files{.vocabulary = first};
  if (const auto end = first.find('\0'); end != std::string_view::npos && (kind == 'B' || kind == 'J')) {
    files.vocabulary = first.substr(0, end);
    files.merges = first.substr(end + 1);
  }
  if (kind == 'J') {
    const auto config = core::parse_json(files.vocabulary, "tokenizer_config.json");
    if (!config.ok() || !config->is_object()) return 0;
    files.tokenizer_config = *config;
    files.vocabulary = files.merges;
  }
  const auto tokenizer = embedding::Tokenizer::from_vocabulary_files(class_named(name), files, "fuzz");
  if (!tokenizer.ok()) {
    require(tokenizer.status().code() != core::StatusCode::kInternal);
    require(tokenizer.status().to_string().find('\n') == std::string::npos);
    return 0;
  }
  const std::size_t ids_end = tokenizer->vocabulary_size();
  std::vector<std::int32_t> ids;
  require(tokenizer->encode("Hello  wörld ﬁ e\u0301 東京 [MASK]<mask>\t", 64, ids).ok() || ids.empty());
  for (const std::int32_t id : ids)
    require(id >= 0 && static_cast<std::size_t>(id) < ids_end);
  return 0;
}

// The transformers classes that rebuild a tokenizer's parts although there is a tokenizer.json. Internal to
// beside_tokenizer_json.h. Values of static storage.
//
// Source: transformers 5.24.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "embedding/tokenizer/vocabulary_files/default_tokens.h"

namespace latebind::embedding {

// How a class rebuilds its parts. Classes that are not listed keep those of tokenizer.json. Classes of kOther are
// refused, since only the type of their model is known; classes of kAlone are refused because they do not read
// tokenizer.json.
enum class Maker : std::uint8_t {
  kBert,
  kMpnet,
  kRoberta,
  kGpt2,
  kQwen2,
  kGemma,
  kXlmRoberta,
  kCamembert,
  kAlbert,
  kDeberta,
  kDebertaV2,
  kT5,
  kLlama,
  kOther,
  kAlone,
};

struct MakingClass {
  std::string_view name;
  Maker maker;
  std::string_view model{};  // the type of model that the class makes
};
inline constexpr std::array kMakingClasses{
    MakingClass{"BertTokenizer", Maker::kBert, "WordPiece"},
    MakingClass{"DistilBertTokenizer", Maker::kBert, "WordPiece"},
    MakingClass{"ElectraTokenizer", Maker::kBert, "WordPiece"},
    MakingClass{"LayoutLMTokenizer", Maker::kBert, "WordPiece"},
    MakingClass{"MPNetTokenizer", Maker::kMpnet, "WordPiece"},
    MakingClass{"RobertaTokenizer", Maker::kRoberta, "BPE"},
    MakingClass{"BartTokenizer", Maker::kRoberta, "BPE"},
    MakingClass{"LEDTokenizer", Maker::kRoberta, "BPE"},
    MakingClass{"LongformerTokenizer", Maker::kRoberta, "BPE"},
    MakingClass{"GPT2Tokenizer", Maker::kGpt2, "BPE"},
    MakingClass{"Qwen2Tokenizer", Maker::kQwen2, "BPE"},
    MakingClass{"GemmaTokenizer", Maker::kGemma, "BPE"},
    MakingClass{"XLMRobertaTokenizer", Maker::kXlmRoberta, "Unigram"},
    MakingClass{"CamembertTokenizer", Maker::kCamembert, "Unigram"},
    MakingClass{"AlbertTokenizer", Maker::kAlbert, "Unigram"},
    MakingClass{"DebertaTokenizer", Maker::kDeberta, "BPE"},
    MakingClass{"DebertaV2Tokenizer", Maker::kDebertaV2, "Unigram"},
    MakingClass{"T5Tokenizer", Maker::kT5, "Unigram"},
    MakingClass{"LlamaTokenizer", Maker::kLlama, "BPE"},
    MakingClass{"CLIPTokenizer", Maker::kOther, "BPE"},
    MakingClass{"CohereTokenizer", Maker::kOther, "BPE"},
    MakingClass{"GPTNeoXTokenizer", Maker::kOther, "BPE"},
    MakingClass{"HerbertTokenizer", Maker::kOther, "BPE"},
    MakingClass{"NllbTokenizer", Maker::kOther, "BPE"},
    MakingClass{"OpenAIGPTTokenizer", Maker::kOther, "BPE"},
    MakingClass{"WhisperTokenizer", Maker::kOther, "BPE"},
    MakingClass{"BarthezTokenizer", Maker::kOther, "Unigram"},
    MakingClass{"MBartTokenizer", Maker::kOther, "Unigram"},
    MakingClass{"PegasusTokenizer", Maker::kOther, "Unigram"},
    MakingClass{"RemBertTokenizer", Maker::kOther, "Unigram"},
    MakingClass{"XLNetTokenizer", Maker::kOther, "Unigram"},
    MakingClass{"BertJapaneseTokenizer", Maker::kAlone},
    MakingClass{"FunnelTokenizer", Maker::kAlone},
};

// The expression with which Qwen2Tokenizer splits words.
inline constexpr const char* kQwenWords =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// The tokens that a class adds unless a file says otherwise.
[[nodiscard]] inline std::span<const DefaultToken> tokens_of_class(Maker maker) {
  switch (maker) {
    case Maker::kBert:
      return kTokensOfBert;
    case Maker::kMpnet:
      return kTokensOfMpnet;
    case Maker::kRoberta:
    case Maker::kXlmRoberta:
    case Maker::kCamembert:
      return kTokensOfRoberta;
    case Maker::kGpt2:
      return kTokensOfGpt2;
    case Maker::kQwen2:
      return kTokensOfQwen2;
    case Maker::kGemma:
      return kTokensOfGemma;
    case Maker::kAlbert:
      return kTokensOfAlbert;
    case Maker::kDeberta:
    case Maker::kDebertaV2:
      return kTokensOfDeberta;
    case Maker::kT5:
      return kTokensOfT5;
    case Maker::kLlama:
      return kTokensOfLlama;
    case Maker::kOther:
    case Maker::kAlone:
      break;
  }
  return {};
}

}  // namespace latebind::embedding

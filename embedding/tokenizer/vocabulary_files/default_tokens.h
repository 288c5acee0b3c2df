// The tokens that transformers' classes use if no file names them, by family. Values of static storage.
//
// Source: transformers 5.24.
#pragma once

#include <array>
#include <string_view>

#include "embedding/tokenizer/vocabulary_files/special_tokens.h"

namespace latebind::embedding {

struct DefaultToken {
  SpecialTokens::Role role;
  std::string_view content;
};

inline constexpr std::array kTokensOfBert{
    DefaultToken{SpecialTokens::kUnk, "[UNK]"}, DefaultToken{SpecialTokens::kSep, "[SEP]"},
    DefaultToken{SpecialTokens::kPad, "[PAD]"}, DefaultToken{SpecialTokens::kCls, "[CLS]"},
    DefaultToken{SpecialTokens::kMask, "[MASK]"}};
inline constexpr std::array kTokensOfMpnet{
    DefaultToken{SpecialTokens::kBos, "<s>"},    DefaultToken{SpecialTokens::kEos, "</s>"},
    DefaultToken{SpecialTokens::kSep, "</s>"},   DefaultToken{SpecialTokens::kCls, "<s>"},
    DefaultToken{SpecialTokens::kUnk, "[UNK]"},  DefaultToken{SpecialTokens::kPad, "<pad>"},
    DefaultToken{SpecialTokens::kMask, "<mask>"}};
inline constexpr std::array kTokensOfRoberta{
    DefaultToken{SpecialTokens::kBos, "<s>"},    DefaultToken{SpecialTokens::kEos, "</s>"},
    DefaultToken{SpecialTokens::kSep, "</s>"},   DefaultToken{SpecialTokens::kCls, "<s>"},
    DefaultToken{SpecialTokens::kUnk, "<unk>"},  DefaultToken{SpecialTokens::kPad, "<pad>"},
    DefaultToken{SpecialTokens::kMask, "<mask>"}};
inline constexpr std::array kTokensOfGpt2{DefaultToken{SpecialTokens::kUnk, "<|endoftext|>"},
                                          DefaultToken{SpecialTokens::kBos, "<|endoftext|>"},
                                          DefaultToken{SpecialTokens::kEos, "<|endoftext|>"}};
inline constexpr std::array kTokensOfQwen2{DefaultToken{SpecialTokens::kUnk, "<|endoftext|>"},
                                           DefaultToken{SpecialTokens::kEos, "<|endoftext|>"},
                                           DefaultToken{SpecialTokens::kPad, "<|endoftext|>"}};
inline constexpr std::array kTokensOfGemma{
    DefaultToken{SpecialTokens::kUnk, "<unk>"}, DefaultToken{SpecialTokens::kBos, "<bos>"},
    DefaultToken{SpecialTokens::kEos, "<eos>"}, DefaultToken{SpecialTokens::kPad, "<pad>"},
    DefaultToken{SpecialTokens::kMask, "<mask>"}};
inline constexpr std::array kTokensOfAlbert{
    DefaultToken{SpecialTokens::kBos, "[CLS]"},  DefaultToken{SpecialTokens::kEos, "[SEP]"},
    DefaultToken{SpecialTokens::kUnk, "<unk>"},  DefaultToken{SpecialTokens::kSep, "[SEP]"},
    DefaultToken{SpecialTokens::kPad, "<pad>"},  DefaultToken{SpecialTokens::kCls, "[CLS]"},
    DefaultToken{SpecialTokens::kMask, "[MASK]"}};
inline constexpr std::array kTokensOfDeberta{
    DefaultToken{SpecialTokens::kBos, "[CLS]"},  DefaultToken{SpecialTokens::kEos, "[SEP]"},
    DefaultToken{SpecialTokens::kUnk, "[UNK]"},  DefaultToken{SpecialTokens::kSep, "[SEP]"},
    DefaultToken{SpecialTokens::kPad, "[PAD]"},  DefaultToken{SpecialTokens::kCls, "[CLS]"},
    DefaultToken{SpecialTokens::kMask, "[MASK]"}};
inline constexpr std::array kTokensOfT5{DefaultToken{SpecialTokens::kEos, "</s>"},
                                        DefaultToken{SpecialTokens::kUnk, "<unk>"},
                                        DefaultToken{SpecialTokens::kPad, "<pad>"}};
inline constexpr std::array kTokensOfLlama{DefaultToken{SpecialTokens::kUnk, "<unk>"},
                                           DefaultToken{SpecialTokens::kBos, "<s>"},
                                           DefaultToken{SpecialTokens::kEos, "</s>"}};

}  // namespace latebind::embedding

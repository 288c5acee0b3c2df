#include "embedding/folder/gguf/pre_tokenizers.h"

#include <algorithm>

namespace latebind::embedding {
namespace {

constexpr std::string_view kSplitGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSplitLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSplitQwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kSplitOneDigit = R"(\p{N})";
constexpr std::string_view kSplitDigits = R"(\p{N}+)";
constexpr std::string_view kSplitThreeDigits = "[0-9][0-9][0-9]";
constexpr std::string_view kSplitPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kSplitFalconPunctuation = R"([\p{P}\$\+<=>\^~\|`]+)";

constexpr std::array kPreTokenizers{
    GgufPreTokenizer{.name = "codeshell", .patterns = {kSplitOneDigit, kSplitGpt2}},
    GgufPreTokenizer{.name = "command-r", .patterns = {kSplitOneDigit, kSplitGpt2}},
    GgufPreTokenizer{.name = "deepseek-r1-qwen", .patterns = {kSplitQwen2}, .is_composed = true},
    GgufPreTokenizer{.name = "default", .patterns = {kSplitPunctuation, kSplitGpt2, kSplitDigits, kSplitThreeDigits}},
    GgufPreTokenizer{.name = "exaone", .patterns = {kSplitOneDigit, kSplitGpt2}},
    GgufPreTokenizer{.name = "falcon", .patterns = {kSplitFalconPunctuation, kSplitGpt2, kSplitThreeDigits}},
    GgufPreTokenizer{.name = "gpt-2", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "jais", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "jina-de", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "jina-es", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "jina-v1-en", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "jina-v2-code", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "jina-v2-de", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "jina-v2-es", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "llama-bpe", .patterns = {kSplitLlama3}, .takes_whole_pieces = true, .adds_bos = true},
    GgufPreTokenizer{.name = "llama-v3", .patterns = {kSplitLlama3}, .takes_whole_pieces = true, .adds_bos = true},
    GgufPreTokenizer{.name = "llama3", .patterns = {kSplitLlama3}, .takes_whole_pieces = true, .adds_bos = true},
    GgufPreTokenizer{.name = "minerva-7b", .patterns = {kSplitOneDigit, kSplitGpt2}},
    GgufPreTokenizer{.name = "mpt", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "olmo", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "phi-2", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "qwen2", .patterns = {kSplitQwen2}, .is_composed = true},
    GgufPreTokenizer{.name = "refact", .patterns = {kSplitOneDigit, kSplitGpt2}},
    GgufPreTokenizer{.name = "roberta-bpe", .patterns = {kSplitGpt2}},
    GgufPreTokenizer{.name = "smaug-bpe", .patterns = {kSplitLlama3}},
    GgufPreTokenizer{.name = "smollm", .patterns = {kSplitOneDigit, kSplitGpt2}},
    GgufPreTokenizer{.name = "stablelm2", .patterns = {kSplitQwen2}},
    GgufPreTokenizer{.name = "starcoder", .patterns = {kSplitOneDigit, kSplitGpt2}},
};

}  // namespace

const GgufPreTokenizer* find_gguf_pre_tokenizer(std::string_view name) {
  const auto* const found = std::ranges::find(kPreTokenizers, name, &GgufPreTokenizer::name);
  return found == kPreTokenizers.end() ? nullptr : found;
}

std::vector<std::string_view> gguf_pre_tokenizer_names() {
  std::vector<std::string_view> names;
  for (const GgufPreTokenizer& one : kPreTokenizers)
    names.push_back(one.name);
  return names;
}

}  // namespace latebind::embedding

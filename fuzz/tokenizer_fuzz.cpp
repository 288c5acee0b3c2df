// Fuzzes the tokenizer: outside bytes as a tokenizer.json, and as text for fixed tokenizers.
//
// Byte 0 chooses: 'J' or 'W': the rest is a tokenizer.json or a list of words, up to a NUL byte if there is one, and
// behind it a text for it.
// Otherwise a text; the byte's lowest bits choose the normalizer's options and whether there are normalized added
// tokens, and the next byte the limit of tokens.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/utf8.h"
#include "embedding/tokenizer/fused_bert_encoder.h"
#include "embedding/tokenizer/staged_encoder.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/tokenizer_file.h"

namespace {

using latebind::embedding::FusedBertEncoder;
using latebind::embedding::StagedEncoder;
using latebind::embedding::Tokenizer;
using latebind::embedding::TokenizerFile;
using latebind::embedding::TokenizerParts;
using Ids = std::vector<std::int32_t>;

void require(bool holds) {
  if (!holds) std::abort();
}

// Offsets are between characters of the text, and the ids are the same.
void check_offsets(const Tokenizer& tokenizer, std::string_view text, std::size_t max_tokens, const Ids& expected) {
  Ids ids;
  std::vector<latebind::embedding::TokenOffsets> offsets;
  const auto status = tokenizer.encode_with_offsets(text, max_tokens, Tokenizer::Cut::kEnd, ids, offsets);
  if (!status.ok()) {
    require(status.code() == latebind::core::StatusCode::kUnsupported && ids.empty() && offsets.empty());
    return;
  }
  require(std::ranges::equal(ids, std::span(expected).subspan(1)));
  require(offsets.size() == ids.size());
  const auto is_inside = [text](std::size_t at) {
    return at < text.size() && latebind::core::is_utf8_continuation(text[at]);
  };
  for (const auto& [begin, end] : offsets)
    require(begin <= end && end <= text.size() && !is_inside(begin) && !is_inside(end));
}

void check_encode(const Tokenizer& tokenizer, std::string_view text, std::size_t max_tokens, std::size_t tokens_after) {
  Ids ids{-1};
  const auto status = tokenizer.encode(text, max_tokens, ids);
  require(ids.front() == -1);
  if (!status.ok()) {
    require(ids.size() == 1);
    return;
  }
  require(!latebind::core::find_invalid_utf8(text));
  require(ids.size() - 1 <= max_tokens);
  for (std::size_t i = 1; i < ids.size(); ++i) {
    require(ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < tokenizer.vocabulary_size());
    const auto token = tokenizer.token(ids[i]);
    require(!token || !latebind::core::find_invalid_utf8(*token));
  }
  check_offsets(tokenizer, text, max_tokens, ids);
  const auto decoded = tokenizer.decode(std::span(ids).subspan(1), false);
  require(!decoded.ok() || !latebind::core::find_invalid_utf8(*decoded));
  Ids again{-1};
  require(tokenizer.encode(text, max_tokens, again).ok());
  require(again == ids);
  // What fits is what comes out without a limit; what does not is its beginning, and the special tokens behind.
  Ids all{-1};
  const auto whole = tokenizer.encode(text, std::numeric_limits<std::size_t>::max(), all);
  // Further on, an expression may take too much.
  if (!whole.ok()) {
    require(whole.code() == latebind::core::StatusCode::kUnsupported && all.size() == 1);
    return;
  }
  require(all.size() >= ids.size());
  if (all.size() - 1 <= max_tokens) require(all == ids);
  for (std::size_t i = 0; i + tokens_after < ids.size(); ++i)
    require(ids[i] == all[i]);
}

std::string fixed_json(unsigned flags) {
  const auto flag = [flags](unsigned bit) { return (flags >> bit & 1U) != 0; };
  const auto added = [](int id, std::string_view content, std::string_view options) {
    return fmt::format(R"({{"id":{},"content":"{}",{}}})", id, content, options);
  };
  const std::string plain = R"("single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true)";
  std::string tokens = added(0, "[UNK]", plain) + "," + added(1, "[CLS]", plain) + "," + added(2, "[SEP]", plain);
  if (flag(4)) {
    tokens +=
        "," + added(18, "Éa b", R"("single_word":false,"lstrip":true,"rstrip":true,"normalized":true,"special":false)");
    tokens +=
        "," + added(19, "b", R"("single_word":true,"lstrip":false,"rstrip":true,"normalized":true,"special":false)");
    tokens +=
        "," + added(20, " ", R"("single_word":false,"lstrip":true,"rstrip":true,"normalized":false,"special":false)");
  }
  return fmt::format(
      R"({{"version":"1.0","added_tokens":[{}],"normalizer":{{"type":"BertNormalizer","clean_text":{},)"
      R"("handle_chinese_chars":{},"strip_accents":{},"lowercase":{}}},"pre_tokenizer":{{"type":"BertPreTokenizer"}},)"
      R"("post_processor":{{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]}},"model":{{"type":"WordPiece",)"
      R"("unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":12,"vocab":{{"[UNK]":0,)"
      R"("[CLS]":1,"[SEP]":2,"a":3,"##a":4,"##b":5,"ab":6,"中":7,"é":8,"##é":9,"e":10,".":11,"abc":12,"##c":13,)"
      R"("ᄀ":14,"##ᅡ":15,"##〮":16,"〮":17}}}}}})",
      tokens, flag(0), flag(1), flag(2), flag(3));
}

// A tokenizer, and its parts, for what is inside.
struct Fixed {
  explicit Fixed(const std::string& json)
      : tokenizer(taken(Tokenizer::from_json(json, "fixed"))),
        parts(taken(TokenizerFile::read(json)).parts),
        fused(FusedBertEncoder::create(parts)),
        staged(parts, {}) {}

  template <class T>
  static T taken(latebind::core::Result<T> result) {
    if (result.ok()) return *std::move(result);
    fmt::print(stderr, "{}\n", result.status().to_string());
    std::abort();
  }

  Tokenizer tokenizer;
  TokenizerParts parts;
  std::unique_ptr<const FusedBertEncoder> fused;
  StagedEncoder staged;
};

// All at once gives what the parts give one after the other.
void check_encoders(const Fixed& fixed, std::string_view text, std::size_t max_tokens) {
  if (latebind::core::find_invalid_utf8(text) || max_tokens == 0) return;
  Ids fused;
  Ids staged;
  require(fixed.fused->encode(text, true, max_tokens, fused) == fixed.staged.encode(text, true, max_tokens, staged));
  require(fused == staged);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.front() == 'J' || input.front() == 'W') {
    const std::string_view rest = input.substr(1);
    const std::size_t end = rest.find('\0');
    const std::string_view file = rest.substr(0, end);
    const auto tokenizer =
        input.front() == 'J' ? Tokenizer::from_json(file, "fuzz") : Tokenizer::from_word_list(file, "fuzz");
    if (tokenizer.ok()) {
      const std::string_view text = end == std::string_view::npos ? "Some text: [CLS] 中é." : rest.substr(end + 1);
      check_encode(*tokenizer, text, 16, 16);
    } else {
      require(tokenizer.status().to_string().find('\n') == std::string::npos);
    }
    return 0;
  }
  static std::array<std::unique_ptr<Fixed>, 32> all;
  auto& fixed = all[data[0] & 31U];
  if (!fixed) fixed = std::make_unique<Fixed>(fixed_json(data[0] & 31U));
  check_encode(fixed->tokenizer, input.substr(2), data[1], 1);
  check_encoders(*fixed, input.substr(2), data[1]);
  return 0;
}

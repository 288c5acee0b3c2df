#include "embedding/tokenizer/word_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json/parse.h"
#include "core/json/value.h"
#include "core/text/git_lfs.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "embedding/tokenizer/json_lists.h"
#include "embedding/tokenizer/python_text.h"

namespace latebind::embedding {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr core::JsonLimits kLimits{.bytes_max = std::size_t{1} << 30, .depth_max = 4};
constexpr std::string_view kWords = "vocab";
constexpr std::string_view kStopWords = "stop_words";
constexpr std::string_view kLowerCase = "do_lower_case";

class WordSplit final : public PreTokenizer {
 public:
  bool split(std::string_view text, WordSink& sink) const override {
    return cut_words(text, sink, [](char32_t c) { return is_python_space(c) ? CutKind::kGone : CutKind::kInside; });
  }
};

// Tries each word as it is written, then without punctuation around it, then in lower case.
class WordListModel final : public TokenModel {
 public:
  WordListModel(Vocabulary words, std::vector<std::string> stop_words, bool lower_case)
      : TokenModel(std::move(words)), stop_words_(std::move(stop_words)), lower_case_(lower_case) {
    std::ranges::sort(stop_words_);
  }

  void tokenize(std::string_view word, std::vector<Token>& tokens) const override {
    const std::string lowered = lower_case_ ? python_lower(word) : std::string();
    const std::string_view written = lower_case_ ? lowered : word;
    if (find(written, word.size(), tokens)) return;
    const std::string_view bare = strip_ascii_punctuation(written);
    if (is_stop_word(bare) || (!bare.empty() && find(bare, word.size(), tokens))) return;
    find(python_lower(bare), word.size(), tokens);
  }
  [[nodiscard]] std::string_view without_offsets() const override { return "list of words (WhitespaceTokenizer)"; }

 private:
  [[nodiscard]] bool is_stop_word(std::string_view word) const {
    return std::ranges::binary_search(stop_words_, word, std::less<>());
  }
  // Appends the word's token, unless the word is left out. Returns whether it is known or left out.
  bool find(std::string_view word, std::size_t end, std::vector<Token>& tokens) const {
    if (is_stop_word(word)) return true;
    const auto id = vocabulary().find(word);
    if (id) tokens.push_back({*id, end});
    return id.has_value();
  }

  std::vector<std::string> stop_words_;
  const bool lower_case_;
};

struct WordList {
  Vocabulary words;
  std::optional<std::vector<std::string>> stop_words = std::nullopt;
  std::optional<bool> lower_case = std::nullopt;
};

// Takes the members of the file's object.
class WordListReader {
 public:
  explicit WordListReader(std::string_view text) : walk_(text) { list_.words.reserve(text.size()); }

  // Returns false where the text is damaged or has another form; status() says which one was expected.
  bool read() {
    return walk_.take_object([this](std::string_view key) { return take(key); }) && walk_.text().is_at_end();
  }
  [[nodiscard]] const Status& status() const { return status_.ok() ? walk_.status() : status_; }
  [[nodiscard]] WordList take_list() && { return std::move(list_); }

 private:
  bool refuse(StatusCode code, std::string message) {
    status_ = Status(code, std::move(message));
    return false;
  }
  bool twice(std::string_view key) {
    return refuse(StatusCode::kInvalidModel, fmt::format("the key '{}' occurs twice", key));
  }

  bool take(std::string_view key) {
    if (key == kWords) return take_words();
    if (key == kStopWords) {
      if (list_.stop_words) return twice(key);
      auto& words = list_.stop_words.emplace();
      return take_list_of(key, [&words](std::string_view word) {
        words.emplace_back(word);
        return Status();
      });
    }
    if (key == kLowerCase) return take_lower_case();
    constexpr std::array kKnown{kWords, kStopWords, kLowerCase};
    return refuse(StatusCode::kUnsupported, fmt::format("the key '{}' is not supported{}", core::printable(key),
                                                        core::supported_instead(key, kKnown)));
  }

  bool take_words() {
    if (std::exchange(has_words_, true)) return twice(kWords);
    std::uint64_t next = 0;
    return take_list_of(kWords, [&](std::string_view word) { return list_.words.add(word, next++); });
  }

  template <class Take>
  bool take_list_of(std::string_view key, const Take& take_text) {
    if (walk_.take_texts(take_text)) return true;
    if (!walk_.status().ok()) return false;
    return refuse(StatusCode::kInvalidModel, fmt::format("'{}' is not a list of texts", key));
  }

  bool take_lower_case() {
    if (list_.lower_case) return twice(kLowerCase);
    PlainJson& text = walk_.text();
    const char* const begin = text.at();
    if (!text.skip_value()) return false;
    core::Json value;
    const bool is_read =
        !core::read_json({begin, static_cast<std::size_t>(text.at() - begin)}, kLimits, value).has_value();
    if (!is_read || !value.is_boolean())
      return refuse(StatusCode::kInvalidModel, fmt::format("'{}' is neither true nor false", kLowerCase));
    list_.lower_case = value.get<bool>();
    return true;
  }

  JsonLists walk_;
  WordList list_;
  bool has_words_ = false;
  Status status_;
};

}  // namespace

Result<TokenizerFile> read_word_list(std::string_view json) {
  if (core::is_git_lfs_pointer(json)) return Status(StatusCode::kInvalidModel, std::string(core::kGitLfsPointer));
  WordListReader reader(json);
  if (core::find_invalid_utf8(json) || !reader.read()) {
    // Damage comes before a wrong form.
    if (auto damage = core::find_damage(json, kLimits)) return Status(StatusCode::kInvalidModel, *std::move(damage));
    return reader.status().ok() ? Status(StatusCode::kInvalidModel, "not a JSON object") : reader.status();
  }
  WordList list = std::move(reader).take_list();
  // For a file without such a list, which nothing writes, the reference has its own.
  if (!list.stop_words) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("'{}' is missing: only files that list these words are supported", kStopWords));
  }
  if (Status status = list.words.finish(); !status.ok()) return std::move(status).with_context(std::string(kWords));
  if (list.words.size() == 0) return Status(StatusCode::kInvalidModel, fmt::format("'{}' is missing or empty", kWords));
  TokenizerFile file;
  file.id_end = list.words.id_end();
  file.parts.pre_tokenizer = std::make_unique<WordSplit>();
  file.parts.model = std::make_unique<WordListModel>(std::move(list.words), *std::move(list.stop_words),
                                                     list.lower_case.value_or(false));
  return file;
}

}  // namespace latebind::embedding

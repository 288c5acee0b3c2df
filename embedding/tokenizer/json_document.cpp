#include "embedding/tokenizer/json_document.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/git_lfs.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"
#include "core/threads/in_background.h"
#include "embedding/tokenizer/json_number.h"
#include "embedding/tokenizer/plain_json.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using core::Json;

constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kValuesMax = 1'000'000;
constexpr std::size_t kEntryBytes = 14;  // of most entries at least
constexpr std::size_t kBytesWorthAThread = std::size_t{1} << 20;

// The input of nlohmann's parser. All copies share one position, which the receiver of the parser's events can advance.
class TextReader {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit TextReader(const char*& at) : at_(&at) {}
  reference operator*() const { return **at_; }
  TextReader& operator++() {
    ++*at_;
    return *this;
  }
  friend bool operator==(const TextReader& a, const TextReader& b) { return *a.at_ == *b.at_; }
  friend bool operator!=(const TextReader& a, const TextReader& b) { return !(a == b); }

 private:
  const char** at_;
};

// Receives the events of nlohmann's parser, whose position is `at`.
class Handler : public core::Json_sax<Json> {
 public:
  Handler(JsonDocument& document, const char*& at, const char* end, NumberRounding rounding, bool is_utf8)
      : document_(document), at_(at), end_(end), rounding_(rounding), is_utf8_(is_utf8) {}

  [[nodiscard]] const Status& status() const { return status_; }
  // Waits for the work that was started beside the parser.
  void wait() {
    if (finishing_.valid()) document_.lists.finished = finishing_.get();
  }

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(std::int64_t value) override {
    return in_scores() ? entry_score(static_cast<double>(value)) : scalar(value);
  }
  bool number_unsigned(std::uint64_t value) override {
    if (in_scores()) return entry_score(static_cast<double>(value));
    if (!in_vocabulary()) return scalar(value);
    return keep(document_.lists.vocabulary.add(key_, value));
  }
  bool number_float(double value, const std::string& text) override {
    if (!in_scores()) return scalar(value);
    std::string_view rest = text;
    const auto score = take_json_number(rest, rounding_);
    return score ? entry_score(*score) : not_an_entry();
  }
  bool string(std::string& value) override {
    if (in_scores()) return entry_text(value);
    return in_merges() ? merge_text(value) : scalar(std::move(value));
  }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return start(Json::object()); }
  bool start_array(std::size_t) override { return start(Json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(std::string& name) override {
    if (skipped_depth_ > 0) return true;
    if (!in_vocabulary() && open_.back()->contains(name)) {
      return keep({StatusCode::kInvalidModel, fmt::format("the key {} occurs twice", core::quoted(name))});
    }
    key_.assign(name);  // reuses the memory of key_
    return !in_vocabulary() || take_plain_ids();
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return keep({StatusCode::kInvalidModel, fmt::format("not valid JSON at byte {}", position + skipped_bytes_)});
  }

 private:
  // Depth 1 is inside the root.
  [[nodiscard]] std::size_t depth() const {
    return open_.size() + skipped_depth_ + (in_vocabulary() ? 1 : 0) + merges_depth_ + scores_depth_;
  }
  [[nodiscard]] bool in_vocabulary() const { return in_vocabulary_ && skipped_depth_ == 0; }
  [[nodiscard]] bool in_merges() const { return merges_depth_ > 0; }
  [[nodiscard]] bool in_scores() const { return scores_depth_ > 0; }
  [[nodiscard]] bool at_root() const { return open_.size() == 1; }
  [[nodiscard]] bool in_model() const { return open_.size() == 2 && model_is_open_; }

  bool keep(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return status_.ok();
  }

  template <class T>
  bool scalar(T&& value) {
    if (skipped_depth_ > 0) return true;
    if (in_vocabulary()) {
      return keep({StatusCode::kInvalidModel,
                   fmt::format("model.vocab: the id of {} is not a whole number from 0", core::quoted(key_))});
    }
    if (in_merges()) return not_a_merge();
    if (in_scores()) return not_an_entry();
    return insert(Json(std::forward<T>(value))) != nullptr;
  }

  // `taken`: the element has been counted already.
  bool not_a_merge(bool taken = false) {
    return keep({StatusCode::kInvalidModel,
                 fmt::format("model.merges: merge {} does not have the form of the first one, a text or two texts",
                             document_.lists.merges->size() - (taken ? 1 : 0))});
  }
  // Takes a merge, or half of one. All merges of a file have the same form.
  bool merge_text(std::string& text) {
    MergeList& merges = *document_.lists.merges;
    const bool is_half = merges_depth_ == 2;
    if (merges_form_ == MergesForm::kUnknown) merges_form_ = is_half ? MergesForm::kPairs : MergesForm::kLines;
    if (is_half != (merges_form_ == MergesForm::kPairs)) return not_a_merge();
    Status status;
    if (!is_half) {
      status = merges.add_line(merges.keep(text));
      if (status.ok()) return take_plain_merges();
    } else if (++halves_ == 1) {
      left_.assign(text);
    } else if (halves_ == 2) {
      const std::string_view both = merges.keep(left_, text);
      status = merges.add(both.substr(0, left_.size()), both.substr(left_.size()));
    } else {
      return not_a_merge(/*taken=*/true);
    }
    return keep_merge(status);
  }

  // Nearly all merges are valid and need no error text.
  bool keep_merge(const Status& status) {
    return status.ok() ? status_.ok() : keep(status.with_context("model.merges"));
  }

  bool not_an_entry() {
    return keep({StatusCode::kInvalidModel,
                 fmt::format("model.vocab: entry {} is not a token and its score", document_.lists.scores->size())});
  }
  // Takes one of the two parts of an entry of a vocabulary with scores.
  bool entry_text(const std::string& text) {
    if (scores_depth_ != 2 || halves_++ != 0) return not_an_entry();
    left_.assign(text);
    return true;
  }
  bool entry_score(double score) {
    if (scores_depth_ != 2 || halves_++ != 1) return not_an_entry();
    score_ = score;
    return true;
  }
  bool add_entry(std::string_view token, double score) {
    auto& scores = *document_.lists.scores;
    if (!keep(document_.lists.vocabulary.add(token, scores.size()))) return false;
    scores.push_back(score);
    return true;
  }
  bool end_entry() {
    if (halves_ != 2) return not_an_entry();
    if (!add_entry(left_, score_)) return false;
    return take_plain_scores();
  }

  // Large files consist of list entries, nearly all of which are plain. After the parser has read one entry, this
  // function takes the plain ones that follow and moves the parser past them. take_one(text) takes one entry or none.
  template <class TakeOne>
  bool take_plain(TakeOne take_one) {
    if (!is_utf8_) return true;
    PlainJson text({at_, static_cast<std::size_t>(end_ - at_)});
    const char* taken = at_;
    while (take_one(text) && status_.ok())
      taken = text.at();
    skipped_bytes_ += static_cast<std::size_t>(taken - at_);
    at_ = taken;
    return status_.ok();
  }
  // After a key, takes its id and the next key.
  bool take_plain_ids() {
    std::string_view key = key_;
    const bool go_on = take_plain([&](PlainJson& text) {
      if (!text.take(':')) return false;
      const auto id = text.take_whole_number();
      if (!id || !text.take(',')) return false;
      const auto next = text.take_string();
      if (!next) return false;
      keep(document_.lists.vocabulary.add(key, *id));
      key = *next;
      return true;
    });
    if (key.data() != key_.data()) key_.assign(key);
    return go_on;
  }
  bool take_plain_scores() {
    return take_plain([this](PlainJson& text) {
      if (!text.take(',') || !text.take('[')) return false;
      const auto token = text.take_string();
      if (!token || !text.take(',')) return false;
      const auto score = text.take_number(rounding_);
      return score && text.take(']') && add_entry(*token, *score);
    });
  }
  bool take_plain_merges() {
    return take_plain([this](PlainJson& text) {
      if (!text.take(',')) return false;
      MergeList& merges = *document_.lists.merges;
      if (merges_form_ == MergesForm::kLines) {
        const auto line = text.take_string();
        return line && keep_merge(merges.add_line(*line));
      }
      if (!text.take('[')) return false;
      const auto left = text.take_string();
      if (!left || !text.take(',')) return false;
      const auto right = text.take_string();
      return right && text.take(']') && keep_merge(merges.add(*left, *right));
    });
  }

  // Builds the vocabulary's table while the rest of the file is read, which usually contains as many merges.
  void finish_vocabulary_beside() {
    if (static_cast<std::size_t>(end_ - at_) < kBytesWorthAThread) return;
    finishing_ = core::in_background([&vocabulary = document_.lists.vocabulary] { return vocabulary.finish(); });
  }

  // Null if a limit is exceeded.
  Json* insert(Json value) {
    if (++values_ > kValuesMax) {
      keep({StatusCode::kUnsupported, fmt::format("more than {} values beside the vocabulary", kValuesMax)});
      return nullptr;
    }
    if (open_.empty()) {
      document_.root = std::move(value);
      return &document_.root;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    Json& slot = parent[key_];
    slot = std::move(value);
    return &slot;
  }

  bool start(Json container) {
    if (depth() >= kDepthMax) {
      return keep({StatusCode::kUnsupported, fmt::format("nested more than {} deep", kDepthMax)});
    }
    if (skipped_depth_ > 0) {
      ++skipped_depth_;
      return true;
    }
    if (in_vocabulary()) return scalar(nullptr);
    if (in_merges()) {
      halves_ = 0;
      if (merges_depth_ == 2 || !container.is_array()) return not_a_merge();
      ++merges_depth_;
      return true;
    }
    if (in_scores()) {
      halves_ = 0;
      if (scores_depth_ == 2 || !container.is_array()) return not_an_entry();
      ++scores_depth_;
      return true;
    }
    const bool has_scores = in_model() && key_ == "vocab" && container.is_array();
    const bool is_vocabulary = in_model() && key_ == "vocab" && container.is_object();
    const bool is_merges = in_model() && key_ == "merges" && container.is_array();
    const bool is_needless =
        (at_root() && (key_ == "padding" || key_ == "truncation")) || (in_model() && key_ == "merges");
    if (has_scores || is_vocabulary || is_merges || is_needless) {
      in_vocabulary_ = is_vocabulary;
      if (has_scores) {
        scores_depth_ = 1;
        document_.lists.scores.emplace().reserve(static_cast<std::size_t>(end_ - at_) / kEntryBytes);
      } else if (is_merges) {
        merges_depth_ = 1;
        document_.lists.merges.emplace().reserve(static_cast<std::size_t>(end_ - at_));
      } else if (!is_vocabulary) {
        skipped_depth_ = 1;
      }
      return insert(Json(true)) != nullptr;
    }
    if (at_root()) model_is_open_ = key_ == "model";
    Json* const inserted = insert(std::move(container));
    if (inserted == nullptr) return false;
    open_.push_back(inserted);
    return true;
  }

  bool end() {
    if (skipped_depth_ > 0) {
      --skipped_depth_;
    } else if (in_vocabulary_) {
      in_vocabulary_ = false;
      finish_vocabulary_beside();
    } else if (in_merges()) {
      if (merges_depth_ == 2 && halves_ != 2) return not_a_merge();
      return --merges_depth_ == 0 || take_plain_merges();
    } else if (in_scores()) {
      return --scores_depth_ == 0 || end_entry();
    } else {
      open_.pop_back();
    }
    return true;
  }

  JsonDocument& document_;
  const char*& at_;  // the byte after those that the parser has read
  const char* const end_;
  const NumberRounding rounding_;  // for scores
  const bool is_utf8_;
  std::size_t skipped_bytes_ = 0;  // not seen by the parser
  std::vector<Json*> open_;        // the containers from the root to here; each is the last element of its parent
  std::string key_;
  std::size_t skipped_depth_ = 0;  // inside a value that is not kept
  std::size_t values_ = 0;
  bool in_vocabulary_ = false;
  bool model_is_open_ = false;
  enum class MergesForm { kUnknown, kLines, kPairs };
  MergesForm merges_form_ = MergesForm::kUnknown;
  std::size_t merges_depth_ = 0;  // 1: in the array; 2: in a pair
  std::size_t scores_depth_ = 0;  // 1: in the array of a vocabulary with scores; 2: in an entry
  std::size_t halves_ = 0;        // halves so far, of a pair or an entry
  std::string left_;
  double score_ = 0.0;
  Status status_;
  core::InBackground<Status> finishing_;  // builds the vocabulary's table
};

// Conditions on the text that the readers beside the parser rely on.
struct TextCheck {
  std::optional<std::size_t> zero_byte;
  bool is_utf8 = false;
};

TextCheck check_text(std::string_view text) {
  return {.zero_byte = core::find_zero_byte(text), .is_utf8 = !core::find_invalid_utf8(text)};
}

Status has_zero_byte(std::size_t at) {
  return {StatusCode::kInvalidModel, fmt::format("not valid JSON at byte {}: a zero byte", at + 1)};
}

core::Result<JsonDocument> parse(std::string_view json_text, NumberRounding scores, bool is_utf8) {
  JsonDocument document;
  document.lists.vocabulary.reserve(json_text.size());
  const char* at = json_text.data();
  const char* end = at + json_text.size();
  Handler handler(document, at, end, scores, is_utf8);
  const bool complete = Json::sax_parse(TextReader(at), TextReader(end), &handler);
  handler.wait();
  if (!handler.status().ok()) return handler.status();
  if (!complete) return Status(StatusCode::kInvalidModel, "not valid JSON");
  if (!document.root.is_object()) return Status(StatusCode::kInvalidModel, "not a JSON object");
  return document;
}

}  // namespace

core::Result<JsonDocument> read_json_document(std::string_view json_text, NumberRounding scores) {
  if (core::is_git_lfs_pointer(json_text)) return Status(StatusCode::kInvalidModel, std::string(core::kGitLfsPointer));
  if (json_text.size() < kBytesWorthAThread) {
    const TextCheck check = check_text(json_text);
    if (check.zero_byte) return has_zero_byte(*check.zero_byte);
    return parse(json_text, scores, check.is_utf8);
  }
  // Nearly every text is valid, so it is parsed as such while it is checked.
  auto checking = core::in_background([json_text] { return check_text(json_text); });
  {
    auto document = parse(json_text, scores, /*is_utf8=*/true);
    const TextCheck check = checking.get();
    if (check.zero_byte) return has_zero_byte(*check.zero_byte);
    if (check.is_utf8 && !document.ok()) return document.status();
    if (check.is_utf8) return *std::move(document);
  }
  return parse(json_text, scores, /*is_utf8=*/false);
}

}  // namespace latebind::embedding

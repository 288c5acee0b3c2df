#include "embedding/tokenizer/json_document.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;
using nlohmann::json;

constexpr std::size_t kDepthMax = 64;
constexpr std::size_t kValuesMax = 1'000'000;

// Receives the events of nlohmann's parser.
class Handler : public nlohmann::json_sax<json> {
 public:
  explicit Handler(JsonDocument& document) : document_(document) {}

  [[nodiscard]] const Status& status() const { return status_; }

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(std::int64_t value) override { return scalar(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (!in_vocabulary()) return scalar(value);
    return keep(document_.lists.vocabulary.add(key_, value));
  }
  bool number_float(double value, const std::string&) override { return scalar(value); }
  bool string(std::string& value) override { return in_merges() ? merge_text(value) : scalar(std::move(value)); }
  bool binary(json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return start(json::object()); }
  bool start_array(std::size_t) override { return start(json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(std::string& name) override {
    if (skipped_depth_ > 0) return true;
    if (!in_vocabulary() && open_.back()->contains(name)) {
      return keep({StatusCode::kInvalidModel, fmt::format("the key {} occurs twice", core::quoted(name))});
    }
    key_.assign(name);  // into memory that is there
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return keep({StatusCode::kInvalidModel, fmt::format("not valid JSON at byte {}", position)});
  }

 private:
  // Depth 1 is inside the root.
  [[nodiscard]] std::size_t depth() const {
    return open_.size() + skipped_depth_ + (in_vocabulary() ? 1 : 0) + merges_depth_;
  }
  [[nodiscard]] bool in_vocabulary() const { return in_vocabulary_ && skipped_depth_ == 0; }
  [[nodiscard]] bool in_merges() const { return merges_depth_ > 0; }
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
    return insert(json(std::forward<T>(value))) != nullptr;
  }

  bool not_a_merge() {
    return keep({StatusCode::kInvalidModel,
                 fmt::format("model.merges: merge {} is neither a text nor two of them, as the first is",
                             document_.lists.merges->size())});
  }
  // A merge, or half of one. All merges of a file have the same form.
  bool merge_text(std::string& text) {
    MergeList& merges = *document_.lists.merges;
    const bool is_half = merges_depth_ == 2;
    if (merges_form_ == MergesForm::kUnknown) merges_form_ = is_half ? MergesForm::kPairs : MergesForm::kLines;
    if (is_half != (merges_form_ == MergesForm::kPairs)) return not_a_merge();
    Status status;
    if (!is_half) {
      status = merges.add_line(text);
    } else if (++halves_ == 1) {
      left_.assign(text);
    } else if (halves_ == 2) {
      status = merges.add(left_, text);
    } else {
      return not_a_merge();
    }
    return status.ok() || keep(std::move(status).with_context("model.merges"));
  }

  // Null when a limit is exceeded.
  json* insert(json value) {
    if (++values_ > kValuesMax) {
      keep({StatusCode::kUnsupported, fmt::format("more than {} values beside the vocabulary", kValuesMax)});
      return nullptr;
    }
    if (open_.empty()) {
      document_.root = std::move(value);
      return &document_.root;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    json& slot = parent[key_];
    slot = std::move(value);
    return &slot;
  }

  bool start(json container) {
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
    const bool is_vocabulary = in_model() && key_ == "vocab" && container.is_object();
    const bool is_merges = in_model() && key_ == "merges" && container.is_array();
    const bool is_needless = (at_root() && (key_ == "padding" || key_ == "truncation")) ||
                             (in_model() && (key_ == "vocab" || key_ == "merges"));
    if (is_vocabulary || is_merges || is_needless) {
      in_vocabulary_ = is_vocabulary;
      if (is_merges) {
        merges_depth_ = 1;
        document_.lists.merges.emplace();
      } else if (!is_vocabulary) {
        skipped_depth_ = 1;
      }
      return insert(json(true)) != nullptr;
    }
    if (at_root()) model_is_open_ = key_ == "model";
    json* const inserted = insert(std::move(container));
    if (inserted == nullptr) return false;
    open_.push_back(inserted);
    return true;
  }

  bool end() {
    if (skipped_depth_ > 0) {
      --skipped_depth_;
    } else if (in_vocabulary_) {
      in_vocabulary_ = false;
    } else if (in_merges()) {
      if (merges_depth_ == 2 && halves_ != 2) return not_a_merge();
      --merges_depth_;
    } else {
      open_.pop_back();
    }
    return true;
  }

  JsonDocument& document_;
  std::vector<json*> open_;  // the containers from the root to here; each is the last element of its parent
  std::string key_;
  std::size_t skipped_depth_ = 0;  // inside a value that is not kept
  std::size_t values_ = 0;
  bool in_vocabulary_ = false;
  bool model_is_open_ = false;
  enum class MergesForm { kUnknown, kLines, kPairs };
  MergesForm merges_form_ = MergesForm::kUnknown;
  std::size_t merges_depth_ = 0;  // 1: in the array, 2: in a pair
  std::size_t halves_ = 0;
  std::string left_;
  Status status_;
};

}  // namespace

core::Result<JsonDocument> read_json_document(std::string_view json_text) {
  if (const auto at = core::find_zero_byte(json_text)) {
    return Status(StatusCode::kInvalidModel, fmt::format("not valid JSON at byte {}: a zero byte", *at + 1));
  }
  JsonDocument document;
  document.lists.vocabulary.reserve(json_text.size());
  Handler handler(document);
  const bool complete = json::sax_parse(json_text.begin(), json_text.end(), &handler);
  if (!handler.status().ok()) return handler.status();
  if (!complete) return Status(StatusCode::kInvalidModel, "not valid JSON");
  if (!document.root.is_object()) return Status(StatusCode::kInvalidModel, "not a JSON object");
  return document;
}

}  // namespace latebind::embedding

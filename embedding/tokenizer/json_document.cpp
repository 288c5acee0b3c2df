#include "embedding/tokenizer/json_document.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "core/json/parse.h"
#include "core/text/git_lfs.h"
#include "core/text/utf8.h"
#include "core/threads/in_background.h"
#include "embedding/tokenizer/json_lists.h"

namespace latebind::embedding {
namespace {

using core::Status;
using core::StatusCode;

constexpr core::JsonLimits kLimits{
    .bytes_max = std::size_t{1} << 30, .depth_max = 64, .values_max = 1'000'000};  // beside the lists
constexpr std::size_t kEntryBytes = 14;                                            // of most entries at least
constexpr std::size_t kBytesWorthAThread = std::size_t{1} << 20;

// Takes the lists out of the text, and copies the rest of it.
class ListsRemover {
 public:
  ListsRemover(std::string_view text, NumberRounding scores, ModelLists& lists)
      : copied_(text.data()), end_(text.data() + text.size()), lists_(lists), walk_(text, scores) {
    lists_.vocabulary.reserve(text.size());
  }

  // The text with `true` in place of the lists; std::nullopt if the text is damaged, has another form, or exceeds the
  // limit of a list.
  std::optional<std::string> remove() {
    const bool is_object = walk_.take_object(
        [this](std::string_view key) { return key == "model" ? take_model() : walk_.text().skip_value(); });
    if (finishing_.valid()) lists_.finished = finishing_.get();
    if (!is_object) return std::nullopt;
    rest_.append(copied_, end_);
    return std::move(rest_);
  }
  [[nodiscard]] const Status& status() const { return walk_.status(); }
  [[nodiscard]] std::string_view list() const { return list_; }

 private:
  bool take_model() {
    if (!walk_.text().is_before('{')) return walk_.text().skip_value();
    return walk_.take_object([this](std::string_view key) {
      PlainJson& text = walk_.text();
      // A list that is there twice stays in the rest, whose reader refuses the second key.
      if (key == "vocab" && !std::exchange(has_vocabulary_, true) && (text.is_before('{') || text.is_before('[')))
        return remove_list("model.vocab", [this] { return take_vocabulary(); });
      if (key == "merges" && !lists_.merges && text.is_before('[')) {
        lists_.merges.emplace().reserve(left());
        return remove_list("model.merges", [this] { return walk_.take_merges(*lists_.merges); });
      }
      return text.skip_value();
    });
  }

  bool take_vocabulary() {
    if (walk_.text().is_before('[')) {
      auto& scores = lists_.scores.emplace();
      scores.reserve(left() / kEntryBytes);
      return walk_.take_scores(lists_.vocabulary, scores);
    }
    if (!walk_.take_ids(lists_.vocabulary)) return false;
    // The vocabulary's table is built while the rest of the file is read, which usually contains as many merges.
    if (left() >= kBytesWorthAThread)
      finishing_ = core::in_background([&vocabulary = lists_.vocabulary] { return vocabulary.finish(); });
    return true;
  }

  template <class Take>
  bool remove_list(std::string_view name, const Take& take) {
    list_ = name;
    rest_.append(copied_, walk_.text().at()).append("true");
    const bool is_taken = take();
    copied_ = walk_.text().at();
    return is_taken;
  }
  [[nodiscard]] std::size_t left() { return static_cast<std::size_t>(end_ - walk_.text().at()); }

  const char* copied_;  // the text before it is in rest_, or in the lists
  const char* const end_;
  ModelLists& lists_;
  JsonLists walk_;
  bool has_vocabulary_ = false;
  std::string_view list_;
  std::string rest_;
  core::InBackground<Status> finishing_;
};

// `is_utf8` waits for the check of the text.
template <class IsUtf8>
core::Result<JsonDocument> read(std::string_view text, NumberRounding scores, const IsUtf8& is_utf8) {
  JsonDocument document;
  ListsRemover remover(text, scores, document.lists);
  const auto rest = remover.remove();
  std::optional<std::string> mistake;
  if (rest) mistake = core::read_json(*rest, kLimits, document.root);
  if (rest && !mistake && is_utf8()) return document;
  // A damage has its place in the whole text, and comes before a wrong form.
  if (auto damage = core::find_damage(text, kLimits)) return Status(StatusCode::kInvalidModel, *std::move(damage));
  if (!remover.status().ok()) return remover.status().with_context(std::string(remover.list()));
  return Status(StatusCode::kInvalidModel, mistake.value_or("not a JSON object"));
}

}  // namespace

core::Result<JsonDocument> read_json_document(std::string_view json, NumberRounding scores) {
  if (core::is_git_lfs_pointer(json)) return Status(StatusCode::kInvalidModel, std::string(core::kGitLfsPointer));
  const auto check = [json] { return !core::find_invalid_utf8(json); };
  if (json.size() < kBytesWorthAThread) return read(json, scores, check);
  // Nearly every text is UTF-8, so it is read as such while it is checked.
  auto checking = core::in_background(check);
  return read(json, scores, [&checking] { return checking.get(); });
}

}  // namespace latebind::embedding

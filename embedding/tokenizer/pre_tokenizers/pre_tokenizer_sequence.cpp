// Sequence: pre-tokenizers one after the other, each with the words of the one before it.
#include <algorithm>
#include <span>
#include <vector>

#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

// Splits the words that it receives again, and so on, until the sink has what the last part gives.
class SplitAgain final : public WordSink {
 public:
  SplitAgain(std::span<const PreTokenizerPtr> parts, std::size_t origin, WordSink& sink)
      : parts_(parts), origin_(origin), sink_(sink) {}

  bool split(std::string_view text) {
    if (parts_.empty()) return text.empty() || sink_.word({text, 0, text.size()});
    return parts_.front()->split_from(text, origin_, *this);
  }

  bool word(const Word& word) override {
    const auto rest = parts_.subspan(1);
    if (rest.empty()) return sink_.word(word);
    Placed placed(word, sink_);
    // What needs it comes before what rewrites words.
    const std::size_t origin = origin_ > word.begin ? origin_ - word.begin : 0;
    return SplitAgain(rest, origin, placed).split(word.text);
  }

 private:
  // Says of parts of a word where they stand in the text. Where the word is not as the text has it, that is as far as
  // the word goes.
  class Placed final : public WordSink {
   public:
    Placed(const Word& outer, WordSink& sink) : outer_(outer), sink_(sink) {}
    bool word(const Word& word) override {
      const bool is_as_it_was = outer_.text.size() == outer_.end - outer_.begin;
      const std::size_t begin = is_as_it_was ? outer_.begin + word.begin : outer_.begin;
      const std::size_t end = is_as_it_was ? outer_.begin + word.end : outer_.end;
      return sink_.word({word.text, begin, end, word.byte_level});
    }

   private:
    const Word& outer_;
    WordSink& sink_;
  };

  std::span<const PreTokenizerPtr> parts_;
  const std::size_t origin_;
  WordSink& sink_;
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<PreTokenizerPtr> parts) : parts_(std::move(parts)) {}

  bool rewrites() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const PreTokenizerPtr& part) { return part->rewrites(); });
  }
  bool needs_origin() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const PreTokenizerPtr& part) { return part->needs_origin(); });
  }
  bool split(std::string_view text, WordSink& sink) const override { return split_from(text, 1, sink); }
  bool split_from(std::string_view text, std::size_t origin, WordSink& sink) const override {
    return SplitAgain(parts_, origin, sink).split(text);
  }

 private:
  const std::vector<PreTokenizerPtr> parts_;
};

}  // namespace

core::Result<PreTokenizerPtr> read_pre_tokenizer_sequence(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(auto parts, read_sequence(view, "pretokenizers", kPreTokenizers));
  bool is_rewritten = false;
  for (const PreTokenizerPtr& part : parts) {
    if (is_rewritten && part->needs_origin()) {
      return core::Status(core::StatusCode::kUnsupported,
                          view.name() + " has a part with prepend_scheme 'first' behind another that rewrites words");
    }
    is_rewritten = is_rewritten || part->rewrites();
  }
  return PreTokenizerPtr(std::make_unique<PreTokenizerSequence>(std::move(parts)));
}

}  // namespace latebind::embedding

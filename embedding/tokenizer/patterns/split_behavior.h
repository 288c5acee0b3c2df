// What a pre-tokenizer does with matches: they become words, parts of the previous or next word, or are removed.
//
// A BehaviorSplitter walks over one text on one thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/patterns/pattern.h"
#include "embedding/tokenizer/pre_tokenizer.h"

namespace latebind::embedding {

enum class SplitBehavior : std::uint8_t { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// Reads the key "behavior".
[[nodiscard]] core::Result<SplitBehavior> read_split_behavior(const JsonView& view);

// Receives the matches of a text, and gives its words.
class BehaviorSplitter final : public MatchSink {
 public:
  // If `inverted`, matches and the text between them swap roles.
  BehaviorSplitter(SplitBehavior behavior, bool inverted, std::string_view text, WordSink& sink)
      : behavior_(behavior), inverted_(inverted), text_(text), sink_(sink) {}

  bool match(std::size_t begin, std::size_t end) override {
    if (begin > at_ && !piece(at_, begin, inverted_)) return false;
    at_ = end;
    return piece(begin, end, !inverted_);
  }
  // Call after the last match.
  bool finish() {
    if (at_ < text_.size() && !piece(at_, text_.size(), inverted_)) return false;
    return give_waiting();
  }

 private:
  // Takes the next piece of the text.
  bool piece(std::size_t begin, std::size_t end, bool is_match);
  // Whether the piece forms one word with the piece that waits.
  [[nodiscard]] bool joins(bool is_match) const;
  bool give(std::size_t begin, std::size_t end) { return sink_.word({text_.substr(begin, end - begin), begin, end}); }
  bool give_waiting() { return waiting_begin_ == waiting_end_ || give(waiting_begin_, waiting_end_); }

  const SplitBehavior behavior_;
  const bool inverted_;
  const std::string_view text_;
  WordSink& sink_;
  std::size_t at_ = 0;  // end of the last match
  // The piece that may still grow, and whether its last part was a match.
  std::size_t waiting_begin_ = 0;
  std::size_t waiting_end_ = 0;
  bool waits_as_match_ = false;
};

}  // namespace latebind::embedding

// PatternProgram: any expression that pattern_syntax.h reads, as a program of PCRE2.
//
// Nothing else in Latebind uses PCRE2. It is given letters (see pattern_alphabet.h), in windows of the text, and with
// limits: memory does not grow with the text unless a match does, and a text that takes too many steps is an error.
// Immutable, any thread.
#pragma once

#include "core/result.h"
#include "embedding/tokenizer/patterns/pattern.h"
#include "embedding/tokenizer/patterns/pattern_alphabet.h"
#include "embedding/tokenizer/patterns/pattern_tree.h"

namespace latebind::embedding {

class PatternProgram final : public Pattern {
 public:
  static core::Result<PatternPtr> compile(const PatternTree& tree);
  ~PatternProgram() override;

  std::size_t size_min() const override { return size_min_; }
  bool find_all(std::string_view text, MatchSink& sink) const override;

 private:
  class Search;
  PatternProgram() = default;

  std::unique_ptr<const PatternAlphabet> alphabet_;
  void* code_ = nullptr;  // pcre2_code
  std::size_t size_min_ = 1;
  std::size_t behind_max_ = 0;
};

}  // namespace latebind::embedding

// PatternProgram: any expression that pattern_syntax.h can read, as a PCRE2 program.
//
// This is the only use of PCRE2 in Latebind. PCRE2 gets letters (pattern_alphabet.h), in windows of the text, and
// limits: memory grows with the text only if a match does, and a text that takes too many steps is an error. Immutable,
// any thread.
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

// PatternTree: a parsed expression, with its character classes as sets.
//
// A value. pattern_syntax.h makes it, pattern_program.h compiles it.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "embedding/tokenizer/patterns/code_point_set.h"

namespace latebind::embedding {

struct PatternNode {
  enum class Kind {
    kCharacter,     // one character of a set
    kSequence,      // its parts, one after the other
    kAlternatives,  // the first of its parts with which the rest matches
    kRepeat,        // repetitions of its only part
    kAtomic,        // its only part, in the first way that it matches
    kLook,          // whether its only part would match after, or before, this place
  };
  enum class Greed { kGreedy, kLazy, kPossessive };
  static constexpr std::size_t kNoEnd = std::numeric_limits<std::size_t>::max();

  Kind kind = Kind::kSequence;
  std::vector<PatternNode> parts;
  std::size_t set = 0;  // for kCharacter: index in PatternTree::sets
  // For kRepeat.
  std::size_t times_min = 1;
  std::size_t times_max = 1;
  Greed greed = Greed::kGreedy;
  // For kLook.
  bool behind = false;
  bool negated = false;
  // Length of a match in characters.
  std::size_t size_min = 0;
  std::size_t size_max = 0;
  // Number of characters if repetitions are expanded.
  std::size_t expanded = 0;
};

struct PatternTree {
  PatternNode root;
  std::vector<CodePointSet> sets;  // without duplicates
  std::size_t behind_max = 0;      // the number of characters before a match that it may examine
};

}  // namespace latebind::embedding

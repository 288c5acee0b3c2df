// PatternTree: what an expression says, with its classes of characters as sets.
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
    kCharacter,     // one of a set
    kSequence,      // its parts, one after the other
    kAlternatives,  // the first of its parts with which the rest matches
    kRepeat,        // its only part
    kAtomic,        // its only part, the first way that it matches
    kLook,          // its only part would match here, or before here
  };
  enum class Greed { kGreedy, kLazy, kPossessive };
  static constexpr std::size_t kNoEnd = std::numeric_limits<std::size_t>::max();

  Kind kind = Kind::kSequence;
  std::vector<PatternNode> parts;
  std::size_t set = 0;  // kCharacter: in PatternTree::sets
  // kRepeat
  std::size_t times_min = 1;
  std::size_t times_max = 1;
  Greed greed = Greed::kGreedy;
  // kLook
  bool behind = false;
  bool negated = false;
  // Of what it matches, in characters.
  std::size_t size_min = 0;
  std::size_t size_max = 0;
  // How many characters it has when repetitions are written out.
  std::size_t expanded = 0;
};

struct PatternTree {
  PatternNode root;
  std::vector<CodePointSet> sets;  // each once
  std::size_t behind_max = 0;      // how many characters before a match it may look at
};

}  // namespace latebind::embedding

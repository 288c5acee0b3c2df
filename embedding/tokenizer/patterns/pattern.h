// Pattern: the text or expression that Split and Replace search for.
//
// Immutable, any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"

namespace latebind::embedding {

// Receives the matches, in the order of the text.
class MatchSink {
 public:
  MatchSink() = default;
  MatchSink(const MatchSink&) = delete;
  MatchSink& operator=(const MatchSink&) = delete;
  virtual ~MatchSink() = default;

  // Bytes `begin` to `end` of the text; not empty. Returns false to stop.
  virtual bool match(std::size_t begin, std::size_t end) = 0;
};

// An expression takes more steps for a text than the limit.
class PatternLimitError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Pattern;
using PatternPtr = std::unique_ptr<const Pattern>;

class Pattern {
 public:
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  virtual ~Pattern() = default;

  // Reads {"String": …} or {"Regex": …} at `key`. kUnsupported names the part of an expression that is not supported.
  static core::Result<PatternPtr> read(const JsonView& view, std::string_view key);
  // A literal text, not empty.
  static PatternPtr literal(std::string text);
  // An expression, with its hand-written matcher if there is one, else with PCRE2. The error names the part that is not
  // supported.
  static core::Result<PatternPtr> expression(std::string_view expression);

  // The least number of bytes of a match.
  [[nodiscard]] virtual std::size_t size_min() const { return 1; }
  // Finds all matches from left to right; each begins at or after the end of the previous one. `text` must be
  // well-formed UTF-8. Stops and returns false if the sink does. Throws PatternLimitError.
  virtual bool find_all(std::string_view text, MatchSink& sink) const = 0;
};

}  // namespace latebind::embedding

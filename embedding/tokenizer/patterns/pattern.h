// Pattern: what Split and Replace look for in a text.
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

// A text for which an expression takes more steps than it may.
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

  // From {"String": …} or {"Regex": …} at `key`. kUnsupported names what of an expression is not read.
  static core::Result<PatternPtr> read(const JsonView& view, std::string_view key);
  // A text, not empty.
  static PatternPtr literal(std::string text);
  // An expression: by a matcher made for it if there is one, else by the library for expressions. The status tells what
  // of it is not supported.
  static core::Result<PatternPtr> expression(std::string_view expression);

  // No match has fewer bytes.
  [[nodiscard]] virtual std::size_t size_min() const { return 1; }
  // All matches from left to right, each at or behind the end of the one before. `text` must be well-formed UTF-8.
  // Stops and returns false when the sink does. Throws PatternLimitError.
  virtual bool find_all(std::string_view text, MatchSink& sink) const = 0;
};

}  // namespace latebind::embedding

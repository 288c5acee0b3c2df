// Template: a template in the subset of the Jinja language that chat templates use.
//
// The rendered text is that of transformers' apply_chat_template(). The subset has the statements if, for, set, macro,
// generation, break and continue; namespaces; and the filters, tests and methods of filters.h, tests.h and methods.h.
// lexer.h defines the treatment of white space. A construct outside the subset is an error that names it. A template
// can only compute its text: it reads no files, calls nothing outside, and is limited in steps, depth and size.
//
// Immutable after parsing; any thread may render it.
#pragma once

#include <cstddef>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/template/value.h"

namespace latebind::templates {

struct Limits {
  std::size_t source_bytes = std::size_t{1} << 20;
  // The nesting of blocks, of the parts of an expression, and of both together during rendering.
  std::size_t depth = 200;
  // The number of evaluated expressions and statements, plus one step for every 64 bytes of text and every list item
  // that the template makes. Operations on single characters, searches, and lookups of long keys cost more, in
  // proportion to their time.
  std::size_t steps = 2'000'000;
  // The size of the result, and of every intermediate text.
  std::size_t output_bytes = std::size_t{64} << 20;
};

using Variables = std::vector<std::pair<std::string, Value>>;
// Returns the local time, for strftime_now(). If it is empty, that function is undefined.
using Clock = std::function<std::tm()>;

class Template {
 public:
  // Parses a template, which must be UTF-8. Returns kInvalidModel for a syntax error, and kUnsupported for an unknown
  // statement; both name the line.
  [[nodiscard]] static core::Result<Template> parse(std::string_view source, const Limits& limits = {});
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  // Returns the rendered text. Returns kInvalidModel for an operation that its values do not allow; kUnsupported for an
  // unknown filter, test, method or function; kInvalidArgument with the template's message if it calls
  // raise_exception(); and kTextTooLong beyond the limits. All name the line.
  [[nodiscard]] core::Result<std::string> render(const Variables& variables, const Clock& now = {}) const;

 private:
  struct Parts;
  explicit Template(std::unique_ptr<const Parts> parts);

  std::unique_ptr<const Parts> parts_;
};

}  // namespace latebind::templates

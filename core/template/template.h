// Template: a text with instructions, in the part of the Jinja language that chat templates use.
//
// It gives the text that transformers' apply_chat_template() gives: statements if, for, set, macro, generation, break
// and continue; namespaces; filters, tests and methods by their names (filters.h, tests.h, methods.h); white space as
// lexer.h says. Whatever it does not know is refused by name. A template can do nothing but compute its text: it reads
// no file, calls nothing outside, and ends within the limits of steps, depth and size.
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
  // Of blocks in each other, of parts of an expression in each other, and of both while the template is rendered.
  std::size_t depth = 200;
  // The evaluated expressions and statements, and one for every 64 bytes of text and every item of a list that is made.
  std::size_t steps = 2'000'000;
  // Of the result, and of every text on the way to it.
  std::size_t output_bytes = std::size_t{64} << 20;
};

using Variables = std::vector<std::pair<std::string, Value>>;
// The local time, for strftime_now(). Without it, that function is not defined.
using Clock = std::function<std::tm()>;

class Template {
 public:
  // Returns kInvalidModel for a damaged template, and kUnsupported for a statement that is not known; both name the
  // line.
  [[nodiscard]] static core::Result<Template> parse(std::string_view source, const Limits& limits = {});
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  // Returns the text. Returns kInvalidModel for an operation that its values do not allow, kUnsupported for a filter, a
  // test, a method or a function that is not known, kInvalidArgument with the template's own words if it calls
  // raise_exception(), and kTextTooLong if the limits end first; all name the line.
  [[nodiscard]] core::Result<std::string> render(const Variables& variables, const Clock& now = {}) const;

 private:
  struct Parts;
  explicit Template(std::unique_ptr<const Parts> parts);

  std::unique_ptr<const Parts> parts_;
};

}  // namespace latebind::templates

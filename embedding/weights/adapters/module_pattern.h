// ModulePattern: a regular expression for the names of modules, as PEFT's configurations have them.
//
// Source: PEFT's get_pattern_key() and check_target_module_exists(), with the syntax of Python's re. A part of the
// syntax that Python and the engine here do not share is refused by name. A value; any thread may use it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "embedding/tokenizer/patterns/pattern.h"

namespace latebind::embedding {

class ModulePattern {
 public:
  enum class Scope : std::uint8_t {
    kWhole,  // the expression matches the whole name
    kEnd,    // it matches the whole name, or the end of it after a dot
  };
  // Returns kUnsupported, naming the part of the expression that is not supported.
  static core::Result<ModulePattern> make(std::string_view expression, Scope scope);

  // `module` must be UTF-8. Returns kUnsupported if the expression takes too many steps for it.
  [[nodiscard]] core::Result<bool> matches(std::string_view module) const;
  [[nodiscard]] const std::string& expression() const { return expression_; }

 private:
  ModulePattern(std::string expression, std::shared_ptr<const Pattern> pattern)
      : expression_(std::move(expression)), pattern_(std::move(pattern)) {}

  std::string expression_;
  std::shared_ptr<const Pattern> pattern_;
};

}  // namespace latebind::embedding

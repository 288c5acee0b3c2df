// Check: one thing that a backend must do, as the conformance kit tests it.
//
// Checks are data: each file of kit/checks/ has a table of one group, and kit/checks/all.h lists them. A check runs in
// a child process of its own with a time limit (kit/child.h), so it may crash, hang or print; each of these is a
// failure with a name. It may also throw: that is a failure, too.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/json/value.h"
#include "core/result.h"

namespace latebind::kit {

class Context;

enum class Verdict : unsigned char {
  kPassed,
  kRefused,  // the backend says that it does not do this, and says so properly
  kAbsent,   // the backend does not offer what the check is about
  kFailed,
};
[[nodiscard]] std::string_view word_of(Verdict verdict);

// The result of a check that was carried out.
struct Finding {
  Verdict verdict = Verdict::kPassed;
  std::string text{};  // one line: what was found, or why it was not
  core::Json data{};   // for the parent process; null if there is none
};

[[nodiscard]] inline Finding passed(std::string text = {}) {
  return {Verdict::kPassed, std::move(text), {}};
}
[[nodiscard]] inline Finding refused(std::string text) {
  return {Verdict::kRefused, std::move(text), {}};
}
[[nodiscard]] inline Finding absent(std::string text) {
  return {Verdict::kAbsent, std::move(text), {}};
}
// What the backend does wrong; the check fails with this text.
[[nodiscard]] inline core::Status wrong(std::string text) {
  return core::Status(core::StatusCode::kInternal, std::move(text));
}

enum class Scope : unsigned char {
  kBackend,  // any backend
  kPlugin,   // only what has the table of functions of latebind/latebind_backend.h
};

struct Check {
  std::string_view name;  // "run.outputs": the group, a dot and a word
  std::string_view what;  // one sentence: what must hold
  Scope scope = Scope::kBackend;
  // An error is a failure with that text.
  core::Result<Finding> (*run)(Context& context) = nullptr;
  // The limit for a backend that computes on this machine's processors.
  std::chrono::seconds time{60};
  // No other check makes sense if this one does not pass.
  bool is_prerequisite = false;

  [[nodiscard]] std::string_view group() const { return name.substr(0, name.find('.')); }
};

}  // namespace latebind::kit

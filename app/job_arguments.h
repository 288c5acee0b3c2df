// JobArguments reads the arguments of a job from JSON, for interfaces that do not use Latebind's structs: {"model":
// "…", "target": ["cpu", "npu:v73"]}.
//
// Each argument is taken by its key; finish() rejects the rest as unknown. Errors are kInvalidArgument and name the
// key. An absent or null argument leaves the value unchanged. One thread at a time.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/json/value.h"
#include "core/result.h"

namespace latebind::app {

class JobArguments {
 public:
  // Parses an object of at most one megabyte. An empty text means no arguments.
  [[nodiscard]] static core::Result<JobArguments> parse(std::string_view json);

  [[nodiscard]] core::Status take(std::string_view key, std::string& value);
  [[nodiscard]] core::Status take(std::string_view key, std::vector<std::string>& value);
  [[nodiscard]] core::Status take(std::string_view key, bool& value);
  // Accepts 0 to `most`.
  [[nodiscard]] core::Status take(std::string_view key, unsigned& value, unsigned most);
  template <class E>
  [[nodiscard]] core::Status take_word(std::string_view key, E& value) {
    std::string text(core::word_of(value));
    LB_RETURN_IF_ERROR(take(key, text));
    auto parsed = core::parse_word<E>(text);
    if (!parsed.ok()) return parsed.status().with_context(key);
    value = *parsed;
    return {};
  }
  // Like take(), but the argument must be present and not empty.
  [[nodiscard]] core::Status require(std::string_view key, std::string& value);

  // Returns an error if an argument has not been taken.
  [[nodiscard]] core::Status finish() const;

 private:
  // Returns the value, or null if it is absent.
  const core::Json* find(std::string_view key);

  core::Json object_ = core::Json::object();
  std::set<std::string, std::less<>> known_;
};

}  // namespace latebind::app

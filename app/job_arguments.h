// Arguments of a job as JSON, for interfaces without Latebind's structs: {"model": "…", "target": ["cpu", "npu:v73"]}.
//
// Each is taken by its key; what has not been taken at the end is unknown. Errors are kInvalidArgument and name the
// key. What is absent or null leaves the value as it is. One thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/json.h"
#include "core/result.h"

namespace latebind::app {

class JobArguments {
 public:
  // An object of at most a megabyte. An empty text is one without arguments.
  [[nodiscard]] static core::Result<JobArguments> parse(std::string_view json);

  [[nodiscard]] core::Status take(std::string_view key, std::string& value);
  [[nodiscard]] core::Status take(std::string_view key, std::vector<std::string>& value);
  [[nodiscard]] core::Status take(std::string_view key, bool& value);
  // From 0 to `most`.
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
  // There must be one, and not "".
  [[nodiscard]] core::Status require(std::string_view key, std::string& value);

  // An error when something has not been taken.
  [[nodiscard]] core::Status finish() const;

 private:
  // The value, or null when there is none.
  const nlohmann::json* find(std::string_view key);

  nlohmann::json object_ = nlohmann::json::object();
  std::set<std::string, std::less<>> known_;
};

}  // namespace latebind::app

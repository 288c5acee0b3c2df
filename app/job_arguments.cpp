#include "app/job_arguments.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "core/json/read.h"

namespace latebind::app {

using core::Result;
using core::Status;
using core::StatusCode;

namespace {

Status wrong(std::string_view key, std::string_view what) {
  return {StatusCode::kInvalidArgument, fmt::format("{} must be {}", key, what)};
}

}  // namespace

Result<JobArguments> JobArguments::parse(std::string_view json) {
  JobArguments arguments;
  if (json.empty()) return arguments;
  auto parsed = core::parse_json(json, "the job's arguments");
  if (!parsed.ok()) return Status(StatusCode::kInvalidArgument, std::string(parsed.status().message()));
  if (!parsed->is_object()) return Status(StatusCode::kInvalidArgument, "the job's arguments are not a JSON object");
  arguments.object_ = *std::move(parsed);
  return arguments;
}

const core::Json* JobArguments::find(std::string_view key) {
  known_.emplace(key);
  return core::find_member(object_, key);
}

Status JobArguments::take(std::string_view key, std::string& value) {
  const core::Json* found = find(key);
  if (found == nullptr) return {};
  if (!found->is_string()) return wrong(key, "a text");
  value = found->text();
  return value.find('\0') == std::string::npos ? Status() : wrong(key, "a text without NUL");
}

Status JobArguments::take(std::string_view key, std::vector<std::string>& value) {
  const core::Json* found = find(key);
  if (found == nullptr) return {};
  if (!found->is_array()) return wrong(key, "a list of texts");
  value.clear();
  for (const core::Json& one : *found) {
    if (!one.is_string()) return wrong(key, "a list of texts");
    value.push_back(one.text());
    if (value.back().find('\0') != std::string::npos) return wrong(key, "a list of texts without NUL");
  }
  return {};
}

Status JobArguments::take(std::string_view key, bool& value) {
  const core::Json* found = find(key);
  if (found == nullptr) return {};
  if (!found->is_boolean()) return wrong(key, "true or false");
  value = found->get<bool>();
  return {};
}

Status JobArguments::take(std::string_view key, unsigned& value, unsigned most) {
  const core::Json* found = find(key);
  if (found == nullptr) return {};
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > most) {
    return wrong(key, fmt::format("a whole number from 0 to {}", most));
  }
  value = found->get<unsigned>();
  return {};
}

Status JobArguments::require(std::string_view key, std::string& value) {
  LB_RETURN_IF_ERROR(take(key, value));
  return value.empty() ? Status(StatusCode::kInvalidArgument, fmt::format("{} is missing", key)) : Status();
}

Status JobArguments::finish() const {
  for (const auto& [key, value] : object_.members()) {
    if (known_.contains(key)) continue;
    const std::vector<std::string_view> known(known_.begin(), known_.end());
    return core::unknown_word_error("argument", key, known);
  }
  return {};
}

}  // namespace latebind::app

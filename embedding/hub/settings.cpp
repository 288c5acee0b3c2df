#include "embedding/hub/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/config.h"
#include "core/http/http_client.h"
#include "core/log.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/os_error.h"
#include "core/text/ascii.h"
#include "core/text/pieces.h"
#include "core/text/quote.h"

namespace latebind::embedding::hub {
namespace {

using core::printable;
using core::Result;
using core::Status;
using core::StatusCode;
using platform::trusted_environment;
using std::filesystem::path;

constexpr const char* kDefaultEndpoint = "https://huggingface.co";
constexpr std::size_t kTokenMax = 4096;

bool is_true(const char* name) {
  const std::string word = core::ascii_lowered(trusted_environment(name).value_or(""));
  constexpr std::array<std::string_view, 4> kTrue{"1", "on", "yes", "true"};
  return std::ranges::find(kTrue, word) != kTrue.end();
}

// The folder that a variable names; "~/" at its beginning stands for the user's home.
Result<std::optional<path>> folder_in(const char* name) {
  const auto value = trusted_environment(name);
  if (!value) return std::optional<path>();
  path named = platform::path_from_utf8(*value);
  if (*value == "~" || value->starts_with("~/")) {
    LB_ASSIGN_OR_RETURN(const path home, platform::home_folder());
    named = value->size() <= 2 ? home : home / platform::path_from_utf8(value->substr(2));
  }
  // An absolute path, since the program's current folder may change before the last file.
  std::error_code error;
  path full = std::filesystem::absolute(named, error);
  if (error) return platform::status_of_errno("find", named, error.default_error_condition().value());
  return std::optional<path>(std::move(full));
}

Result<path> hub_home() {
  LB_ASSIGN_OR_RETURN(const auto own, folder_in("HF_HOME"));
  if (own) return *own;
  LB_ASSIGN_OR_RETURN(const auto cache, folder_in("XDG_CACHE_HOME"));
  if (cache) return *cache / "huggingface";
  const auto home = platform::home_folder();
  if (!home.ok()) return Status(home.status().code(), fmt::format("{}, or set HF_HOME", home.status().message()));
  return *home / ".cache" / "huggingface";
}

Result<path> cache_folder_of(const path& home) {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    LB_ASSIGN_OR_RETURN(const auto folder, folder_in(name));
    if (folder) return *folder;
  }
  return home / "hub";
}

// A text in a header must not be able to end it. Errors about a secret do not contain it.
Result<std::optional<std::string>> checked_token(std::string_view text, std::string_view source) {
  const std::string_view token = core::trimmed(text, " \t\r\n");
  if (token.empty()) return std::optional<std::string>();
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7f; };
  if (token.size() > kTokenMax || !std::ranges::all_of(token, is_visible)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("the token in {} is longer than {} bytes, or contains blanks or control characters",
                              source, kTokenMax));
  }
  return std::optional<std::string>(token);
}

Result<std::optional<std::string>> find_token(const path& home) {
  if (const auto token = trusted_environment("HF_TOKEN")) return checked_token(*token, "HF_TOKEN");
  if (is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN")) return std::optional<std::string>();
  LB_ASSIGN_OR_RETURN(const auto named, folder_in("HF_TOKEN_PATH"));
  const path file = named ? *named : home / "token";
  const auto mapped = platform::MappedFile::open(file);
  if (!mapped.ok()) {
    if (named) return mapped.status().with_context("HF_TOKEN_PATH");
    // The default file: if HOME belongs to another user, the token there is not meant.
    const StatusCode code = mapped.status().code();
    if (code == StatusCode::kPermissionDenied || code == StatusCode::kIo) {
      core::log(core::LogLevel::kWarning,
                fmt::format("the hub is asked without a token: {}", mapped.status().message()));
    } else if (code != StatusCode::kNotFound) {
      return mapped.status().with_context("the hub's token");
    }
    return std::optional<std::string>();
  }
  const auto bytes = mapped->bytes().first(std::min(mapped->bytes().size(), 2 * kTokenMax));
  return checked_token({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, platform::quoted(file));
}

Result<std::string> find_endpoint() {
  std::string endpoint = trusted_environment("HF_ENDPOINT").value_or(kDefaultEndpoint);
  while (endpoint.ends_with('/'))
    endpoint.pop_back();
  const bool web = endpoint.starts_with("https://") || endpoint.starts_with("http://");
  const auto is_visible = [](char c) { return c > 0x20 && c < 0x7f; };
  if (!web || endpoint.find_first_of("?#") != std::string::npos || !std::ranges::all_of(endpoint, is_visible)) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("HF_ENDPOINT is '{}'; expected an address with https:// or http://", printable(endpoint)));
  }
  return endpoint;
}

Status read_seconds(const char* name, std::chrono::seconds& value) {
  const auto text = trusted_environment(name);
  if (!text) return {};
  LB_ASSIGN_OR_RETURN(const auto seconds, core::parse_integer(name, *text, 1, 3600));
  value = std::chrono::seconds(seconds);
  return {};
}

}  // namespace

Result<Settings> Settings::from_environment() {
  Settings settings;
  LB_ASSIGN_OR_RETURN(settings.endpoint, find_endpoint());
  LB_ASSIGN_OR_RETURN(const path home, hub_home());
  LB_ASSIGN_OR_RETURN(settings.cache_folder, cache_folder_of(home));
  settings.offline = is_true(trusted_environment("HF_HUB_OFFLINE") ? "HF_HUB_OFFLINE" : "TRANSFORMERS_OFFLINE");
  // An unreadable token does not matter if no server is contacted.
  if (!settings.offline) {
    LB_ASSIGN_OR_RETURN(settings.token, find_token(home));
  }
  settings.links = !is_true("HF_HUB_DISABLE_SYMLINKS");
  settings.authorities = core::authorities_of_environment();
  LB_RETURN_IF_ERROR(read_seconds("HF_HUB_ETAG_TIMEOUT", settings.answer_timeout));
  LB_RETURN_IF_ERROR(read_seconds("HF_HUB_DOWNLOAD_TIMEOUT", settings.stall_timeout));
  return settings;
}

}  // namespace latebind::embedding::hub

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>

#include "core/platform/environment.h"

namespace latebind::platform {

bool is_privileged() {
  // AT_SECURE is the kernel's word at the start of the program (setuid, setgid, file capabilities); the ids tell what
  // the process has done to itself since.
  static const bool secure_start = ::getauxval(AT_SECURE) != 0;
  return secure_start || ::getuid() != ::geteuid() || ::getgid() != ::getegid();
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<std::string> trusted_environment(const char* name) {
  if (is_privileged()) return std::nullopt;
  return environment(name);
}

std::vector<std::pair<std::string, std::string>> environment_with_prefix(std::string_view prefix) {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !text.starts_with(prefix)) continue;
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

}  // namespace latebind::platform

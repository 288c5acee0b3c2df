#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/platform/environment.h"
#include "core/threads/mutex.h"

namespace latebind::platform {

bool is_privileged() {
  // AT_SECURE is the kernel's verdict at the start of the program (setuid, setgid, file capabilities); the ids show
  // what the process has changed since.
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

void set_environment_default(const char* name, const char* value) noexcept {
  static core::Mutex mutex;
  const core::MutexLock lock(mutex);
  if (std::getenv(name) != nullptr) return;
  std::size_t count = 0;
  while (::environ != nullptr && ::environ[count] != nullptr)
    ++count;
  const std::size_t size = std::strlen(name) + 1 + std::strlen(value) + 1;
  // Never freed: it is the environment from now on, and other threads may still read the previous one.
  auto* const entry = new (std::nothrow) char[size];
  auto** const grown = new (std::nothrow) char*[count + 2];
  if (entry == nullptr || grown == nullptr) {
    delete[] entry;
    delete[] grown;
    return;
  }
  // Keeps it reachable for leak checkers when other code replaces the environment.
  [[maybe_unused]] static char** volatile kept;
  kept = grown;
  std::snprintf(entry, size, "%s=%s", name, value);
  std::copy_n(::environ, count, grown);
  grown[count] = entry;
  grown[count + 1] = nullptr;
  __atomic_store_n(&::environ, grown, __ATOMIC_RELEASE);
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

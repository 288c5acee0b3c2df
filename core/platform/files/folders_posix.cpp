#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "core/platform/environment.h"
#include "core/platform/files/folders.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;
using std::filesystem::path;

// Relative values count as unset: the XDG base directory specification says so for its variables, and a relative home
// would mean another folder after each change of directory.
std::optional<path> absolute_environment(const char* name) {
  const auto value = trusted_environment(name);
  if (!value || !value->starts_with('/')) return std::nullopt;
  return path(*value);
}

core::Result<path> xdg_folder(const char* variable, const char* below_home) {
  if (const auto base = absolute_environment(variable)) return *base / "latebind";
  auto home = home_folder();
  if (!home.ok()) {
    return Status(home.status().code(), fmt::format("{}, or set {}", home.status().message(), variable));
  }
  return *home / below_home / "latebind";
}

}  // namespace

core::Result<path> cache_folder() {
  return xdg_folder("XDG_CACHE_HOME", ".cache");
}

core::Result<path> config_folder() {
  return xdg_folder("XDG_CONFIG_HOME", ".config");
}

path system_config_folder() {
  return "/etc/latebind";
}

core::Result<path> home_folder() {
  if (const auto home = absolute_environment("HOME")) return *home;

  constexpr std::size_t kBufferLimit = std::size_t{1} << 20;
  std::vector<char> buffer(4096);
  struct passwd entry {};
  struct passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found)) == ERANGE &&
         buffer.size() < kBufferLimit) {
    buffer.resize(buffer.size() * 2);
  }
  if (error == 0 && found != nullptr && found->pw_dir != nullptr && found->pw_dir[0] == '/') {
    return path(found->pw_dir);
  }
  return Status(StatusCode::kNotFound, fmt::format("no home folder: HOME is not an absolute path, and the user "
                                                   "database has no home folder for user {}; set HOME",
                                                   ::getuid()));
}

path path_from_utf8(const std::string& text) {
  return path(text);
}

std::string path_for_bytes(const path& file) {
  return path_to_utf8(file);
}

std::string path_to_utf8(const path& path) {
  return path.native();
}

}  // namespace latebind::platform

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "core/platform/environment.h"
#include "core/platform/os_error.h"
#include "core/platform/temporary_folder.h"

namespace latebind::platform {

core::Result<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
  const auto base = trusted_environment("TMPDIR");
  // mkdtemp makes the name and the folder in one step, for this user alone.
  std::string name = fmt::format("{}/{}-XXXXXX", base && base->starts_with('/') ? *base : "/tmp", purpose);
  if (::mkdtemp(name.data()) == nullptr) return status_of_errno("make the temporary folder", name, errno);
  return TemporaryFolder(name);
}

}  // namespace latebind::platform

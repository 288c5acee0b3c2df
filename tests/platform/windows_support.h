// Places that Windows makes hard: a folder whose path is longer than 260 characters, with spaces and letters of several
// scripts in it.
#pragma once

#include <filesystem>

#include "core/platform/files/windows_path.h"
#include "core/platform/windows_error.h"
#include "tests/platform/support.h"

namespace latebind::platform::testing {

inline std::filesystem::path hard_folder(const ScratchFolder& folder) {
  std::filesystem::path place = folder.path();
  while (place.native().size() < 400) {
    place /= utf16_of("Ünï cödé 模型 модель " + std::string(30, 'x'));
    ::CreateDirectoryW(long_path(place).c_str(), nullptr);
  }
  return place;
}

}  // namespace latebind::platform::testing

// The folder that a fuzz target writes its files to: private to the process, in memory if possible, and removed at
// exit.
#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

// Created by the first call.
inline const std::filesystem::path& own_folder() {
  namespace fs = std::filesystem;
  static const fs::path made = [] {
    std::error_code ignored;
    const fs::path shared_memory = "/dev/shm";
    const fs::path place = fs::is_directory(shared_memory, ignored) ? shared_memory : fs::temp_directory_path();
    std::string name = (place / "latebind-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    std::atexit([] {
      std::error_code error;
      fs::remove_all(own_folder(), error);
    });
    return fs::path(name);
  }();
  return made;
}

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/platform/dynamic_library.h"
#include "core/platform/library_image.h"
#include "core/platform/os_error.h"
#include "core/platform/process_generation.h"
#include "core/threads/mutex.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;

constexpr std::size_t kLibrariesMax = 4096;

// Checks the file first, because the loader would search for a bare name, accept a folder or a file of the current
// directory, and block forever on a pipe.
Status check_library_file(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("load a library", file));
  if (!file.is_absolute()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("cannot load a library {}: the path is relative, and the "
                                                            "current folder is never searched; give the full path",
                                                            quoted(file)));
  }
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return Status();  // the loader reports it
    struct stat link {};
    const bool dangling = ::lstat(file.c_str(), &link) == 0;
    return Status(StatusCode::kNotFound, dangling
                                             ? fmt::format("{} is a link to a file that does not exist", quoted(file))
                                             : fmt::format("{} does not exist", quoted(file)));
  }
  if (S_ISDIR(info.st_mode)) {
    return Status(StatusCode::kLibraryUnusable, fmt::format("{} is a folder, not a library", quoted(file)));
  }
  if (!S_ISREG(info.st_mode)) {
    return Status(StatusCode::kLibraryUnusable,
                  fmt::format("{} is not a regular file, so not a library", quoted(file)));
  }
  return Status();
}

// The loader has such a lock inside, where the thread sanitizer does not see it, so that data which the loader shares
// between threads looks like a race. Recursive like the loader's, because opening a library may open another. Never
// destroyed, because the last library may be closed when the program ends.
core::RecursiveMutex& loader_lock() {
  static PerProcess<core::RecursiveMutex> lock;
  return lock.get();
}

void close_library(void* handle) {
  const core::MutexLock guard(loader_lock());
  ::dlclose(handle);
}

bool takes_number(std::string_view& text, std::uintptr_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

// Parses a line of /proc/self/maps: "start-end perms offset device inode      /the/path".
std::string_view path_of_mapping(std::string_view line, std::uintptr_t address) {
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;
  if (!takes_number(line, start) || !line.starts_with('-')) return {};
  line.remove_prefix(1);
  if (!takes_number(line, end) || address < start || address >= end) return {};
  const auto slash = line.find('/');
  return slash == std::string_view::npos ? std::string_view() : line.substr(slash);
}

void keep(const std::string& name) {
  ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

core::Result<DynamicLibrary> DynamicLibrary::open(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_library_file(file));
  // Done with the lock held as well: it maps the file, and the loader may map other files at the same addresses
  // afterwards.
  const core::MutexLock guard(loader_lock());
  LB_RETURN_IF_ERROR(check_library_is_whole(file));
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = ::dlerror();
    return Status::from_vendor(StatusCode::kLibraryUnusable, fmt::format("the loader refused {}", quoted(file)), 0,
                               text != nullptr ? text : "no reason given");
  }
  return DynamicLibrary(handle, file);
}

core::Result<DynamicLibrary> DynamicLibrary::open_system(const std::string& name) {
  if (name.empty() || name.find_first_of(std::string_view("/\0", 2)) != std::string::npos) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("cannot load a library of the system: {} is not a bare name", quoted(std::filesystem::path(name))));
  }
  const core::MutexLock guard(loader_lock());
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* text = ::dlerror();
    return Status::from_vendor(StatusCode::kLibraryNotFound,
                               fmt::format("the loader has no {}", quoted(std::filesystem::path(name))), 0,
                               text != nullptr ? text : "no reason given");
  }
  return DynamicLibrary(handle, name);
}

DynamicLibrary::DynamicLibrary(void* handle, std::filesystem::path file) : handle_(handle), file_(std::move(file)) {}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), leaked_(other.leaked_), file_(std::move(other.file_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  if (this != &other) {
    if (handle_ != nullptr && !leaked_) close_library(handle_);
    handle_ = std::exchange(other.handle_, nullptr);
    leaked_ = other.leaked_;
    file_ = std::move(other.file_);
  }
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr && !leaked_) close_library(handle_);
}

void* DynamicLibrary::symbol(const char* name) const {
  // dlsym() takes a null handle for "search the whole process".
  return handle_ == nullptr || name == nullptr ? nullptr : ::dlsym(handle_, name);
}

void DynamicLibrary::leak() {
  leaked_ = true;
}

// The kernel is asked, not the loader: for the program itself dladdr() returns argv[0], which its caller chose, and for
// a library the path with which it was opened, which may be relative.
core::Result<std::filesystem::path> module_file_of(const void* code) {
  const std::filesystem::path maps = "/proc/self/maps";
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  std::ifstream stream(maps);
  if (!stream) return status_of_errno("read", maps, errno != 0 ? errno : EIO);
  for (std::string line; std::getline(stream, line);) {
    const std::string_view path = path_of_mapping(line, address);
    if (path.empty()) continue;
    constexpr std::string_view kDeleted = " (deleted)";
    if (path.ends_with(kDeleted)) {
      const std::filesystem::path gone = path.substr(0, path.size() - kDeleted.size());
      return Status(StatusCode::kNotFound,
                    fmt::format("{} was removed or replaced while it is in use; restart the program", quoted(gone)));
    }
    return std::filesystem::path(path);
  }
  return Status(StatusCode::kNotFound, fmt::format("{} does not report the file of this process's code", quoted(maps)));
}

core::Result<std::filesystem::path> own_module_file() {
  return module_file_of(reinterpret_cast<const void*>(&own_module_file));
}

void keep_own_module() noexcept {}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  // The loader holds its lock during the callback, so it only copies names.
  ::dl_iterate_phdr(
      [](::dl_phdr_info* info, std::size_t, void* data) {
        auto& found = *static_cast<std::vector<std::string>*>(data);
        if (info->dlpi_name != nullptr && *info->dlpi_name != 0 && found.size() < kLibrariesMax)
          found.emplace_back(info->dlpi_name);
        return 0;
      },
      &names);
  std::ranges::sort(names);
  return names;
}

void keep_libraries_since(const std::vector<std::string>& before) {
  for (const std::string& name : loaded_libraries())
    if (!std::ranges::binary_search(before, name)) keep(name);
}

void keep_libraries_named(std::string_view prefix) {
  for (const std::string& name : loaded_libraries())
    if (std::string_view(name).substr(name.rfind('/') + 1).starts_with(prefix)) keep(name);
}

std::string library_file_name(const std::string& stem) {
  return "lib" + stem + ".so";
}

}  // namespace latebind::platform

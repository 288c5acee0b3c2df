#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "core/platform/dynamic_library.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/os_error.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;

// Without it, a damaged library opens a dialogue box and waits for a person.
class NoDialogues {
 public:
  NoDialogues() { ::SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &before_); }
  NoDialogues(const NoDialogues&) = delete;
  NoDialogues& operator=(const NoDialogues&) = delete;
  ~NoDialogues() { ::SetThreadErrorMode(before_, nullptr); }

 private:
  DWORD before_ = 0;
};

Status check_library_file(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("load a library", file));
  if (!file.is_absolute()) {
    return Status(StatusCode::kInvalidArgument, fmt::format("cannot load a library {}: the path is relative, and the "
                                                            "current folder is never searched; give the full path",
                                                            quoted(file)));
  }
  const DWORD attributes = ::GetFileAttributesW(long_path(file).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) {
    if (code_of_windows_error(::GetLastError()) != StatusCode::kNotFound) return Status();  // the loader reports it
    return Status(StatusCode::kNotFound, fmt::format("{} does not exist", quoted(file)));
  }
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return Status(StatusCode::kLibraryUnusable, fmt::format("{} is a folder, not a library", quoted(file)));
  }
  return Status();
}

void close_library(void* handle) {
  if (handle != nullptr) ::FreeLibrary(static_cast<HMODULE>(handle));
}

}  // namespace

core::Result<DynamicLibrary> DynamicLibrary::open(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_library_file(file));
  const NoDialogues no_dialogues;
  std::filesystem::path native = file;
  native.make_preferred();  // the search flags are ignored for paths with slashes
  // Its dependencies come from its own folder or the system's, never from PATH or the current folder.
  const HMODULE handle = ::LoadLibraryExW(long_path(native).c_str(), nullptr,
                                          LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (handle == nullptr) {
    const DWORD error = ::GetLastError();
    return Status::from_vendor(StatusCode::kLibraryUnusable, fmt::format("the loader refused {}", quoted(file)), error,
                               windows_error_text(error));
  }
  return DynamicLibrary(handle, file);
}

core::Result<DynamicLibrary> DynamicLibrary::open_system(const std::string& name) {
  if (name.empty() || name.find_first_of(std::string_view("/\\:\0", 4)) != std::string::npos) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot load a library of the system: {} is not a bare name",
                              quoted(std::filesystem::path(utf16_of(name)))));
  }
  const NoDialogues no_dialogues;
  const HMODULE handle = ::LoadLibraryExW(utf16_of(name).c_str(), nullptr,
                                          LOAD_LIBRARY_SEARCH_APPLICATION_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (handle == nullptr) {
    const DWORD error = ::GetLastError();
    return Status::from_vendor(StatusCode::kLibraryNotFound,
                               fmt::format("the loader has no {}", quoted(std::filesystem::path(utf16_of(name)))),
                               error, windows_error_text(error));
  }
  return DynamicLibrary(handle, utf16_of(name));
}

DynamicLibrary::DynamicLibrary(void* handle, std::filesystem::path file) : handle_(handle), file_(std::move(file)) {}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), leaked_(other.leaked_), file_(std::move(other.file_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  if (this != &other) {
    if (!leaked_) close_library(handle_);
    handle_ = std::exchange(other.handle_, nullptr);
    leaked_ = other.leaked_;
    file_ = std::move(other.file_);
  }
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (!leaked_) close_library(handle_);
}

void* DynamicLibrary::symbol(const char* name) const {
  if (handle_ == nullptr || name == nullptr) return nullptr;
  return reinterpret_cast<void*>(::GetProcAddress(static_cast<HMODULE>(handle_), name));
}

void DynamicLibrary::leak() {
  leaked_ = true;
}

core::Result<std::filesystem::path> module_file_of(const void* code) {
  constexpr std::size_t kLongestPath = 32768;
  HMODULE module = nullptr;
  if (::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           static_cast<LPCWSTR>(code), &module) == 0) {
    return Status(StatusCode::kNotFound, fmt::format("Windows does not report the module of this process's code: {}",
                                                     windows_error_text(::GetLastError())));
  }
  std::wstring name(512, L'\0');
  while (true) {
    const DWORD size = ::GetModuleFileNameW(module, name.data(), static_cast<DWORD>(name.size()));
    if (size == 0 || (size >= name.size() && name.size() >= kLongestPath)) {
      return Status(StatusCode::kNotFound,
                    fmt::format("Windows does not report the file of a module of this process: {}",
                                windows_error_text(::GetLastError())));
    }
    if (size < name.size()) {
      name.resize(size);
      return std::filesystem::path(name);
    }
    name.resize(name.size() * 2);
  }
}

core::Result<std::filesystem::path> own_module_file() {
  return module_file_of(reinterpret_cast<const void*>(&own_module_file));
}

void keep_own_module() noexcept {
  HMODULE module = nullptr;
  ::GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                       reinterpret_cast<LPCWSTR>(&keep_own_module), &module);
}

std::vector<std::string> loaded_libraries() {
  return {};
}

void keep_libraries_since(const std::vector<std::string>&) {}

void keep_libraries_named(std::string_view) {}

std::string library_file_name(const std::string& stem) {
  return stem + ".dll";
}

}  // namespace latebind::platform

// A shared library opened at run time: an owning handle, symbols bound at once, not visible to other libraries.
//
// The only place that calls the dynamic loader. Thread-safe to open and to look up; destruction closes the handle, so
// whatever came from the library must be gone by then.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::platform {

class DynamicLibrary {
 public:
  // Opens exactly this file (never a search by bare name). kInvalidArgument for an empty or relative path, kNotFound
  // when there is no such file, kLibraryUnusable otherwise: a folder, or with the loader's own text as the vendor's
  // (not a library, wrong architecture, a dependency missing …).
  static core::Result<DynamicLibrary> open(const std::filesystem::path& file);

  // Opens a library of the distribution by its bare name ("libcurl.so.4"), where the system's loader keeps it: on
  // Windows beside the program or in the system's folder; never in the current folder. For libraries that come with the
  // system; vendors' are searched for (core/vendor_search.h). kInvalidArgument for a name with a folder in it,
  // kLibraryNotFound with the loader's own text.
  static core::Result<DynamicLibrary> open_system(const std::string& name);

  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  // Null when the library has no such symbol. On Linux the libraries that it depends on are searched as well.
  [[nodiscard]] void* symbol(const char* name) const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  // Keeps the library in the process permanently: for vendor libraries whose threads outlive their last object. The
  // object itself keeps working.
  void leak();

 private:
  DynamicLibrary(void* handle, std::filesystem::path file);

  void* handle_ = nullptr;
  bool leaked_ = false;
  std::filesystem::path file_;
};

// The file that holds this code: the program itself, or the shared library that Latebind is linked into.
[[nodiscard]] core::Result<std::filesystem::path> own_module_file();
// The program or library that holds the code at this address. kNotFound when none does, or its file has gone.
[[nodiscard]] core::Result<std::filesystem::path> module_file_of(const void* code);

// The shared library that holds this code stays in the process from now on, even if it is closed: its threads may
// outlive their last object. Does nothing on Linux, where the linker has marked Latebind's libraries accordingly.
void keep_own_module() noexcept;

// The libraries that are in this process now, as the loader names them; for keep_libraries_since(). Empty on Windows.
[[nodiscard]] std::vector<std::string> loaded_libraries();
// Keeps every library that has come since in the process for good: for what a vendor's library opens and closes by
// itself, such as a graphics driver, whose code is called again when a thread ends that it had been called in. Does
// nothing on Windows, where a library is told of the ends of threads.
void keep_libraries_since(const std::vector<std::string>& before);
// Keeps those whose file's name begins with `prefix`, likewise.
void keep_libraries_named(std::string_view prefix);

// "libopenvino_c.so" for "openvino_c" on Linux, "openvino_c.dll" on Windows.
[[nodiscard]] std::string library_file_name(const std::string& stem);

}  // namespace latebind::platform

// DynamicLibrary: a shared library opened at run time. It owns its handle, its symbols are bound at once, and they are
// not visible to other libraries.
//
// This is the only code that calls the dynamic loader. Any thread may open libraries and look up symbols. Destruction
// closes the handle, so nothing that came from the library may be in use by then.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::platform {

class DynamicLibrary {
 public:
  // Opens exactly this file; it never searches by a bare name. kInvalidArgument for an empty or relative path,
  // kNotFound when there is no such file, otherwise kLibraryUnusable: for a folder, or with the loader's own text as
  // the vendor's (not a library, wrong architecture, a dependency missing …).
  static core::Result<DynamicLibrary> open(const std::filesystem::path& file);

  // Opens a library of the system by its bare name ("libcurl.so.4") where the system's loader keeps it: on Windows
  // beside the program or in the system's folder, and never in the current folder. For libraries that come with the
  // system; core/vendor/vendor_search.h searches for vendors' libraries. kInvalidArgument for a name with a folder in
  // it, kLibraryNotFound with the loader's own text.
  static core::Result<DynamicLibrary> open_system(const std::string& name);

  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  // Returns null when the library has no such symbol. On Linux the libraries that it depends on are searched as well.
  [[nodiscard]] void* symbol(const char* name) const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

  // Keeps the library in the process permanently, for vendor libraries whose threads outlive their last object. The
  // object can still be used.
  void leak();

 private:
  DynamicLibrary(void* handle, std::filesystem::path file);

  void* handle_ = nullptr;
  bool leaked_ = false;
  std::filesystem::path file_;
};

// Returns the file that holds this code: the program itself, or the shared library that Latebind is linked into.
[[nodiscard]] core::Result<std::filesystem::path> own_module_file();
// Returns the program or library that holds the code at this address. kNotFound when there is none or its file is gone.
[[nodiscard]] core::Result<std::filesystem::path> module_file_of(const void* code);

// Keeps the shared library that holds this code in the process even if it is closed, because its threads may outlive
// their last object. Does nothing on Linux, where the linker has marked Latebind's libraries accordingly.
void keep_own_module() noexcept;

// Returns the libraries that are in this process now, as the loader names them, for keep_libraries_since(). Empty on
// Windows.
[[nodiscard]] std::vector<std::string> loaded_libraries();
// Keeps every library that was loaded since then in the process permanently. For libraries that a vendor's library
// opens and closes by itself, such as a graphics driver: when a thread that has called it ends, its code is called
// again. Does nothing on Windows, which notifies libraries when threads end.
void keep_libraries_since(const std::vector<std::string>& before);
// Likewise keeps the libraries whose file names begin with `prefix`.
void keep_libraries_named(std::string_view prefix);

// Returns the file name of a library: for "openvino_c", "libopenvino_c.so" on Linux and "openvino_c.dll" on Windows.
[[nodiscard]] std::string library_file_name(const std::string& stem);

}  // namespace latebind::platform

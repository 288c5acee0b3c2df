// Opens ONNX Runtime's library: checks its version first, and then takes all required functions or fails.
//
// A Library exists only if all checks have passed. Once opened, it stays in the process permanently, since its threads
// and static objects outlive Latebind's handles. A Library may therefore be shared and destroyed freely.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/onnxruntime/abi.h"
#include "backends/onnxruntime/abi_plugin.h"
#include "backends/onnxruntime/find.h"
#include "core/result.h"
#include "core/vendor/vendor_loader.h"

namespace latebind::onnxruntime {

// An open library. Constant after construction; any thread.
struct Library {
  abi::Api api;
  abi::PluginApi plugin;          // null slots if the library is too old for them
  std::uint32_t api_version = 0;  // N of the table 1.N in use
  std::string file;               // UTF-8
  std::string version;            // the vendor's text, "1.31.1"

  // Turns a failed vendor call into a Status with the vendor's code and text. Releases `failure`.
  [[nodiscard]] core::Status error(core::StatusCode code, std::string message, abi::Status* failure) const;
  // Like error(), but derives the Status code from the vendor's code, or uses `otherwise` if that is not specific.
  [[nodiscard]] core::Status error_by_kind(core::StatusCode otherwise, std::string message, abi::Status* failure) const;
};

// Opens one file and fills the table. Returns kNotFound, kLibraryUnusable (with the loader's text as the vendor's) or
// other errors of DynamicLibrary::open().
[[nodiscard]] core::Result<std::shared_ptr<const Library>> open_library(const std::string& file);

using Loader = core::VendorLoader<Library>;

}  // namespace latebind::onnxruntime

// Returns the vendor's error from the enclosing function if `call` gives one. `library` is a Library.
#define LB_ORT_RETURN_IF_ERROR(library, call, message)                                                   \
  do {                                                                                                   \
    if (auto* lb_failure_ = (call)) {                                                                    \
      return (library).error_by_kind(::latebind::core::StatusCode::kDeviceFailed, message, lb_failure_); \
    }                                                                                                    \
  } while (false)

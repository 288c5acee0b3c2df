// Opening ONNX Runtime's library: version first, then every function or none.
//
// A Library exists only when everything about it is right. Once open it stays in the process permanently (its threads
// and static objects outlive Latebind's handles), so that it may be shared and destroyed freely.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/onnxruntime/abi.h"
#include "backends/onnxruntime/abi_plugin.h"
#include "backends/onnxruntime/find.h"
#include "core/result.h"
#include "core/vendor_loader.h"

namespace latebind::onnxruntime {

// Constant after construction; used from any thread.
struct Library {
  abi::Api api;
  abi::PluginApi plugin;          // as far as the library is new enough
  std::uint32_t api_version = 0;  // N of the table 1.N in use
  std::string file;               // UTF-8
  std::string version;            // the vendor's own text, "1.31.1"

  // A failed vendor call as a Status with the vendor's number and text. Releases `failure`.
  [[nodiscard]] core::Status error(core::StatusCode code, std::string message, abi::Status* failure) const;
  // As above; the code is derived from the vendor's: `otherwise` where that is not specific.
  [[nodiscard]] core::Status error_by_kind(core::StatusCode otherwise, std::string message, abi::Status* failure) const;
};

// Opens one file and fills the table. kNotFound, kLibraryUnusable (with the loader's text as the vendor's), …
[[nodiscard]] core::Result<std::shared_ptr<const Library>> open_library(const std::string& file);

using Loader = core::VendorLoader<Library>;

}  // namespace latebind::onnxruntime

// Leaves the enclosing function with the vendor's error, if `call` gives one. `library` is a Library.
#define LB_ORT_RETURN_IF_ERROR(library, call, message)                                                   \
  do {                                                                                                   \
    if (auto* lb_failure_ = (call)) {                                                                    \
      return (library).error_by_kind(::latebind::core::StatusCode::kDeviceFailed, message, lb_failure_); \
    }                                                                                                    \
  } while (false)

// Opens OpenVINO's C library and fills the table of its functions.
//
// A Library exists only if the file could be opened, its version is at least 2024.6, and all required functions exist.
// Once opened, it stays in the process permanently, since its threads outlive its last object. A Library may therefore
// be shared and destroyed freely.
// shared and destroyed freely.
#pragma once

#include <memory>
#include <string>

#include "backends/openvino/abi.h"
#include "backends/openvino/element_types.h"
#include "core/result.h"
#include "core/vendor/vendor_loader.h"

namespace latebind::openvino {

inline constexpr unsigned kOldestYear = 2024;
inline constexpr unsigned kOldestRelease = 6;

// An open library. Constant after construction; any thread.
struct Library {
  abi::Api api;
  std::string file;     // UTF-8
  std::string version;  // the vendor's text, "2026.4.1-22982-…"
  ElementTypes element_types{ElementNumbering::k2025};

  // Turns a failed vendor call into a Status with Latebind's message, the vendor's code and its unchanged text. Must be
  // called immediately after the failure, on the same thread. The vendor keeps one text for the whole process, so two
  // calls that fail at the same moment may swap their texts; the code is always right.
  [[nodiscard]] core::Status error(core::StatusCode code, std::string message, abi::Code vendor_code) const;
};

// Opens one file and fills the table. Returns kNotFound, kLibraryUnusable (with the loader's text as the vendor's) or
// other errors of DynamicLibrary::open().
[[nodiscard]] core::Result<std::shared_ptr<const Library>> open_library(const std::string& file);

// Searches as described in core/vendor/vendor_search.h, and keeps the open library. Failures are not remembered.
using Loader = core::VendorLoader<Library>;

// `explicit_path` comes from the configuration, UTF-8; empty for a search.
[[nodiscard]] std::unique_ptr<Loader> make_loader(std::string explicit_path);

}  // namespace latebind::openvino

// Opening OpenVINO's C library: from a file to a filled table of functions.
//
// A Library exists only when everything about it is right: opened, at least version 2024.6, every required function
// there. Once opened it stays in the process permanently (its threads outlive its last object), so a Library may be
// shared and destroyed freely.
#pragma once

#include <memory>
#include <string>

#include "backends/openvino/abi.h"
#include "backends/openvino/element_types.h"
#include "core/result.h"
#include "core/vendor_loader.h"

namespace latebind::openvino {

inline constexpr unsigned kOldestYear = 2024;
inline constexpr unsigned kOldestRelease = 6;

// An open library. Constant after construction.
struct Library {
  abi::Api api;
  std::string file;     // UTF-8
  std::string version;  // the vendor's own text, "2026.4.1-22982-…"
  ElementTypes element_types{ElementNumbering::k2025};

  // A failed vendor call as a Status: Latebind's message, the vendor's code, and its text unchanged. Call it at once
  // after the failure, on the same thread. The vendor keeps one text for the whole process, so two calls that fail at
  // the same moment may get each other's text; the code is always right.
  [[nodiscard]] core::Status error(core::StatusCode code, std::string message, abi::Code vendor_code) const;
};

// Opens one file and fills the table. kNotFound, kLibraryUnusable (with the loader's text as the vendor's), …
[[nodiscard]] core::Result<std::shared_ptr<const Library>> open_library(const std::string& file);

// Searches as core/vendor_search.h says, keeps what it has opened, and remembers no failure.
using Loader = core::VendorLoader<Library>;

// `explicit_path`: from the configuration, UTF-8; empty for a search.
[[nodiscard]] std::unique_ptr<Loader> make_loader(std::string explicit_path);

}  // namespace latebind::openvino

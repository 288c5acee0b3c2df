// Opening OpenVINO's C library: from the search list to a filled table of functions, or to an error that says all.
//
// A Library exists only when everything about it is right: opened, at least kOldestVersion, every required function
// there. It stays in the process for good once it has been used (its threads outlive its last object), so a Library may
// be shared, and go, without care. The Loader keeps a Library that it has opened and forgets every failure: the next
// question looks again. All calls are thread-safe; threads that ask while one is opening wait for its answer.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/openvino/abi.h"
#include "backends/openvino/element_types.h"
#include "backends/openvino/find.h"
#include "core/backend.h"
#include "core/result.h"

namespace latebind::openvino {

inline constexpr unsigned kOldestYear = 2024;
inline constexpr unsigned kOldestRelease = 6;
inline constexpr const char* kInstallCommand = "pip install openvino";

// An open library. Constant after construction.
struct Library {
  abi::Api api;
  std::string file;     // UTF-8
  std::string version;  // the vendor's own text, "2026.4.1-22982-…"
  ElementTypes element_types{ElementNumbering::k2025};

  // A failed vendor call as a Status: our words, the vendor's number, and its text as it gave it. Call it at once after
  // the failure, on the same thread. The vendor keeps one text for the whole process, so that two calls that fail at
  // the same moment may be told each other's reason; the number is always right.
  [[nodiscard]] core::Status error(core::StatusCode code, std::string message, abi::Code vendor_code) const;
};

// Opens one file and fills the table. kNotFound, kLibraryUnusable (with the loader's text as the vendor's), …
[[nodiscard]] core::Result<std::shared_ptr<const Library>> open_library(const std::string& file);

class Loader {
 public:
  // What the search depends on, asked anew for each attempt.
  using Facts = std::function<SearchFacts()>;
  explicit Loader(Facts facts, const FileSystem& files = FileSystem::real());

  // kLibraryNotFound when there is no such file anywhere, kLibraryUnusable when what was found does not do.
  [[nodiscard]] core::Result<std::shared_ptr<const Library>> library();

  // Of the last attempt; makes one, if there was none yet.
  [[nodiscard]] std::vector<core::SearchStep> trace();

 private:
  core::Result<std::shared_ptr<const Library>> attempt();

  const Facts facts_;
  const FileSystem& files_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<const Library> library_;
  std::vector<core::SearchStep> trace_;
};

}  // namespace latebind::openvino

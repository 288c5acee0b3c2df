// The places where libraries of plugin execution providers may be, as data.
//
// No library is opened here. If places are configured, only those are searched (docs/decisions/0001). Otherwise the
// packages of the known providers are searched by the rules of core/vendor/vendor_search.h, and beside ONNX Runtime's
// package. Functions may be called from any thread.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/vendor/vendor_search.h"

namespace latebind::onnxruntime {

// The configuration's word for no provider.
inline constexpr std::string_view kNoProviders = "none";

// The facts that the list depends on, besides the files.
struct ProviderFacts {
  core::SearchFacts search;
  // Full paths of libraries, or of folders with them; empty: search; kNoProviders alone: none.
  std::vector<std::string> paths;
  // ONNX Runtime's library, as it was opened.
  std::string runtime_file;

  // The facts of this process at this time.
  static ProviderFacts gather(std::vector<std::string> paths, std::string runtime_file);
};

// The files to register, each once, and the configured places without such a file. If a folder has several versions of
// one library, the list has the one with the plain name, else the newest. Empty places of the search are omitted, but
// those whose files are not trusted are included.
[[nodiscard]] std::vector<core::SearchCandidate> provider_list(const ProviderFacts& facts,
                                                               const core::FileSystem& files);

}  // namespace latebind::onnxruntime

// Where libraries of plugin execution providers may be, as data.
//
// Nothing is opened here. If places are named, only those are searched (docs/decisions/0001); otherwise the packages of
// the known providers are looked for, by the rules of core/vendor_search.h, and beside the package of ONNX Runtime
// itself.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "core/vendor_search.h"

namespace latebind::onnxruntime {

// The word for no provider at all.
inline constexpr std::string_view kNoProviders = "none";

// What the list depends on, besides the files.
struct ProviderFacts {
  core::SearchFacts search;
  // Full paths of libraries, or of folders with them; empty: search. Or kNoProviders alone.
  std::vector<std::string> paths;
  // ONNX Runtime's own library, as it was opened.
  std::string runtime_file;

  // Of this process, now.
  static ProviderFacts gather(std::vector<std::string> paths, std::string runtime_file);
};

// Files to register, and places without one that a user has named. Each file once; of several versions of one library
// in a folder, the one with the plain name, else the newest. Empty places of the search are not in it, but those whose
// files are not trusted are.
[[nodiscard]] std::vector<core::SearchCandidate> provider_list(const ProviderFacts& facts,
                                                               const core::FileSystem& files);

// "a:b" (';' on Windows) or "a,b" as a list; empty parts are left out.
[[nodiscard]] std::vector<std::string> split_paths(std::string_view text, core::System system);

}  // namespace latebind::onnxruntime

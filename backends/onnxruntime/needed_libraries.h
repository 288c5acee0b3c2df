// The libraries that a known provider needs and no search of the system's would find (KnownProvider::needs): NVIDIA's,
// which lie in Python packages of their own.
//
// A library that is already in the process is found by its name, whoever opened it: so they are opened before the
// provider, and stay. Nobody has to set LD_LIBRARY_PATH.
#pragma once

#include <string>
#include <vector>

#include "backends/onnxruntime/targets.h"
#include "core/result.h"
#include "core/vendor_search.h"

namespace latebind::onnxruntime {

// Files to open, in order: beside the provider, and in the maker's packages that lie in the same site-packages as the
// provider or as ONNX Runtime. Of several versions all, for each has a name of its own. Those that another user could
// have put there are left out. At most kNeededMax.
inline constexpr std::size_t kNeededMax = 64;
[[nodiscard]] std::vector<std::string> needed_libraries(const KnownProvider& known, const std::string& provider_file,
                                                        const std::string& runtime_file, core::System system,
                                                        const core::FileSystem& files);

// kLibraryNotFound, with what to install, where the driver's library is not here.
[[nodiscard]] core::Status check_driver(const KnownProvider& known);

// Opens them for good. One that the loader refuses is left out: the provider's own error names what it lacks.
void open_needed_libraries(const KnownProvider& known, const std::string& provider_file,
                           const std::string& runtime_file);

// The failure to open a provider, with what to type where one of these libraries is missing.
[[nodiscard]] core::Status with_remedy(const KnownProvider& known, core::Status failure);

}  // namespace latebind::onnxruntime

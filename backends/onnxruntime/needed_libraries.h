// The libraries that a known provider needs and that the system's search does not find (KnownProvider::needs), such as
// NVIDIA's, which are in separate Python packages.
//
// The loader finds a library that is already in the process by its name. Therefore these libraries are opened before
// the provider, and stay open; LD_LIBRARY_PATH need not be set. Callable from any thread.
#pragma once

#include <string>
#include <vector>

#include "backends/onnxruntime/targets.h"
#include "core/result.h"
#include "core/vendor/vendor_search.h"

namespace latebind::onnxruntime {

// The files to open, in order, from the provider's folder and from the vendor's packages in the site-packages of the
// provider or of ONNX Runtime. All versions are included, since each has a different name. Files that another user
// could have placed there are excluded. At most kNeededMax.
inline constexpr std::size_t kNeededMax = 64;
[[nodiscard]] std::vector<std::string> needed_libraries(const KnownProvider& known, const std::string& provider_file,
                                                        const std::string& runtime_file, core::System system,
                                                        const core::FileSystem& files);

// Returns kLibraryNotFound, with what to install, if the driver's library is missing.
[[nodiscard]] core::Status check_driver(const KnownProvider& known);

// Opens the libraries permanently. If the loader refuses one, it is skipped: the provider's own error then names what
// is missing.
void open_needed_libraries(const KnownProvider& known, const std::string& provider_file,
                           const std::string& runtime_file);

// Adds to a provider's failure the command that installs a missing library.
[[nodiscard]] core::Status with_remedy(const KnownProvider& known, core::Status failure);

}  // namespace latebind::onnxruntime

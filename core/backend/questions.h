// Questions that any backend answers, whether or not it has the capability that the question is about. The functions
// may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"
#include "core/result.h"

namespace latebind::core {

// Blobs::compile(). `left` may be null. kUnsupported without the capability.
[[nodiscard]] Result<Blob> compile_blob(Backend& backend, const Model& model, std::string_view device,
                                        const CompileOptions& options, LeftNodes* left = nullptr);

// Blobs::check(). kIncompatibleBlob without the capability.
[[nodiscard]] Status check_blob(Backend& backend, const BlobLabel& label, std::string_view device,
                                const CompileOptions& options);

// Blobs::load_blob(). kIncompatibleBlob without the capability.
[[nodiscard]] Result<std::unique_ptr<Executable>> load_blob(Backend& backend, const Blob& blob, std::string_view device,
                                                            const CompileOptions& options);

// The virtual devices; an empty list without the capability.
[[nodiscard]] Result<std::vector<Device>> virtual_devices_of(Backend& backend);

// The table of known errors; "" without the capability.
[[nodiscard]] Result<std::string> known_errors_of(Backend& backend);

// Why the backend does not offer the device of this name: the reason of an unavailable part of that name, otherwise the
// backend's advice. Empty when neither is known.
[[nodiscard]] std::string why_not(Backend& backend, std::string_view device);

}  // namespace latebind::core

// cached_load: loads a model through the compile cache.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/backend.h"
#include "core/compile_cache.h"
#include "core/compile_key.h"
#include "core/result.h"

namespace latebind::core {

// From the cache where it has an entry for this model, device and options; else as Backend::load() does, and the
// compiled model is written to the cache a little later. A problem with the cache is never an error of the load: it
// costs speed and is logged. Thread-safe.
//
// All loads of one Model use the same bytes: kIo, and nothing is loaded, when a file that they come from has changed
// (Model::check_bytes()). The cache is looked up by the digest that the model claims; before anything is stored, the
// claim is compared with the bytes (Model::prove_digest()). `cache` may be null: then it is just Backend::load().
[[nodiscard]] Result<std::unique_ptr<Executable>> cached_load(Backend& backend, const Model& model,
                                                              const Device& device, const CompileOptions& options,
                                                              CompileCache* cache);

// Before that, from the blobs that come with the model (Model::blobs()). When the backend rejects one, this is logged,
// the next one is tried, and the executable says so (passed_over()); for a model that consists only of blobs, it is the
// error.
[[nodiscard]] Result<std::unique_ptr<Executable>> ready_or_cached_load(Backend& backend, const Model& model,
                                                                       const Device& device,
                                                                       const CompileOptions& options,
                                                                       CompileCache* cache);

// False for a model that was written so recently that it could change again and look the same: what was made of it is
// not kept.
[[nodiscard]] bool is_settled(const Model& model, const FileDigests& digests);

// Puts what `make` returns into the cache a little later, under the key of the model's digest, once that was proved:
// `known`, as it was computed before, where the model has no files; else it is computed. An error goes to the log,
// after `what` and a colon.
void keep_later(CompileCache& cache, const Model& model, Result<std::string> known, std::string what,
                std::function<CompileKey(std::string_view model_digest)> key, std::function<Result<Blob>()> make);

}  // namespace latebind::core

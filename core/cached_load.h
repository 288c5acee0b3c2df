// cached_load: loads a model through the compile cache.
#pragma once

#include <memory>

#include "core/backend.h"
#include "core/compile_cache.h"
#include "core/result.h"

namespace latebind::core {

// From the cache where it has what was compiled for this model, device and options; else as Backend::load() does, and
// what was compiled goes into the cache a little later. Trouble with the cache is never an error of the load, only of
// speed: it is told to the log. Thread-safe.
//
// All loads of one Model use the same bytes: kIo, and nothing is loaded, when a file that they come from has become
// another one (Model::check_bytes()). The cache is asked by what the model says that it is; before anything is put into
// it, that is compared with the bytes (Model::prove_digest()).
// `cache` may be null: then it is Backend::load() alone.
[[nodiscard]] Result<std::unique_ptr<Executable>> cached_load(Backend& backend, const Model& model,
                                                              const Device& device, const CompileOptions& options,
                                                              CompileCache* cache);

// Before that, from the blobs that the model brings with it (Model::blobs()). One that the backend refuses is a line in
// the log, and the next one is tried; for a model that consists of blobs only, it is the error.
[[nodiscard]] Result<std::unique_ptr<Executable>> ready_or_cached_load(Backend& backend, const Model& model,
                                                                       const Device& device,
                                                                       const CompileOptions& options,
                                                                       CompileCache* cache);

}  // namespace latebind::core

// Loads models through the compile cache and keeps compiled models in it. All functions may be called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/backend/backend.h"
#include "core/cache/compile_cache.h"
#include "core/cache/compile_key.h"
#include "core/result.h"

namespace latebind::core {

// Loads the cached entry for this model, device and options, if there is one. Otherwise loads as Backend::load() does,
// and writes the compiled model to the cache a little later. A problem with the cache is logged and costs speed, but
// never fails the load.
//
// All loads of one Model use the same bytes: if a file they come from has changed (Model::check_bytes()), this returns
// kIo and loads nothing. The cache is looked up by the digest that the model claims. Before an entry is stored, that
// claim is compared with the bytes (Model::prove_digest()). If `cache` is null, this is Backend::load().
[[nodiscard]] Result<std::unique_ptr<Executable>> cached_load(Backend& backend, const Model& model,
                                                              const Device& device, const CompileOptions& options,
                                                              CompileCache* cache);

// Like cached_load(), but first tries the blobs that come with the model (Model::blobs()). If the backend rejects a
// blob, this function logs it, tries the next one, and records it in the executable (passed_over()). For a model that
// consists only of blobs, the last rejection is the error.
[[nodiscard]] Result<std::unique_ptr<Executable>> ready_or_cached_load(Backend& backend, const Model& model,
                                                                       const Device& device,
                                                                       const CompileOptions& options,
                                                                       CompileCache* cache);

// Returns false for a model whose files were written so recently that they could change again without a visible
// difference. Results made from such a model are not kept.
[[nodiscard]] bool is_settled(const Model& model, const FileDigests& digests);

// Stores the result of `make` in the cache a little later, under the key of the model's digest, after that digest was
// proved. For a model without files, `known` is the digest as it was computed before; otherwise the digest is computed
// again. Errors are logged after `what` and a colon.
void keep_later(CompileCache& cache, const Model& model, Result<std::string> known, std::string what,
                std::function<CompileKey(std::string_view model_digest)> key, std::function<Result<Blob>()> make);

}  // namespace latebind::core

#include "core/cache/cached_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/backend/blob_source.h"
#include "core/backend/questions.h"
#include "core/log.h"

namespace latebind::core {
namespace {

// A blob must be loaded with the shapes for which it was made.
Status check_shapes(const Executable& executable, const CompileOptions& options) {
  const auto inputs = executable.inputs();
  const auto& shapes = options.input_shapes;
  if (shapes.empty()) return {};
  const bool same = std::ranges::equal(inputs, shapes, {}, &TensorInfo::shape);
  return same ? Status() : Status(StatusCode::kIncompatibleBlob, "the blob has other input shapes");
}

// Returns the options for loading a blob, which has its shapes.
CompileOptions without_shapes(CompileOptions options) {
  options.input_shapes.clear();
  return options;
}

Result<std::unique_ptr<Executable>> load_with_shapes(Backend& backend, const Blob& blob, const Device& device,
                                                     const CompileOptions& options) {
  LB_ASSIGN_OR_RETURN(auto executable, load_blob(backend, blob, device.name, without_shapes(options)));
  LB_RETURN_IF_ERROR(check_shapes(*executable, options));
  return executable;
}

// Calls `load` and checks before and after it that the model's bytes are unchanged: a model loaded from changing bytes
// would be a second model under the same name.
template <class Load>
auto load_same_bytes(const Model& model, const Load& load) -> decltype(load()) {
  LB_RETURN_IF_ERROR(model.check_bytes());
  auto loaded = load();
  // Checked after an error as well, because the change may have caused it.
  LB_RETURN_IF_ERROR(model.check_bytes());
  return loaded;
}

// Whether the blob itself is unusable, on any state of the device. A blob that a device refuses because it is absent,
// busy or full may be accepted the next time.
bool is_the_blobs_fault(const Status& refusal) {
  return refusal.code() == StatusCode::kIncompatibleBlob || refusal.code() == StatusCode::kInvalidModel;
}

// Stores the result of `make` under the digest of the bytes that it was made from. That is `known`, unless the model
// has files, which are read again.
Status keep(CompileStore& store, const Model& model, const Result<std::string>& known,
            const std::function<CompileKey(std::string_view)>& key, const std::function<Result<Blob>()>& make) {
  LB_RETURN_IF_ERROR(store.make_folder());
  LB_ASSIGN_OR_RETURN(const auto blob, make());
  LB_ASSIGN_OR_RETURN(const auto digest,
                      known.ok() && model.sources().empty() ? known : model.digest([&](const auto& file) {
                        return store.digests().compute(file);
                      }));
  Status proof = model.prove_digest();
  if (!proof.ok()) {
    log(LogLevel::kWarning, fmt::format("{} does not match its description: {}", model.name(), proof.to_string()));
    return proof;
  }
  LB_RETURN_IF_ERROR(model.check_files());
  return store.put(key(digest), blob);
}

Result<std::unique_ptr<Executable>> load_uncached(Backend& backend, const Model& model, const Device& device,
                                                  const CompileOptions& options) {
  LB_RETURN_IF_ERROR(model.check_forms());
  return load_same_bytes(model, [&] { return backend.load(model, device.name, options); });
}

}  // namespace

bool is_settled(const Model& model, const FileDigests& digests) {
  return std::ranges::all_of(model.sources(), [&](const auto& source) { return digests.is_settled(source.identity); });
}

void keep_later(CompileCache& cache, const Model& model, Result<std::string> known, std::string what,
                std::function<CompileKey(std::string_view model_digest)> key, std::function<Result<Blob>()> make) {
  cache.later(std::move(what), [store = cache.store(), model, known = std::move(known), key = std::move(key),
                                make = std::move(make)] { return keep(*store, model, known, key, make); });
}

Result<std::unique_ptr<Executable>> cached_load(Backend& backend, const Model& model, const Device& device,
                                                const CompileOptions& options, CompileCache* cache) {
  LB_RETURN_IF_ERROR(model.check_bytes());
  // The folder is not checked for a backend without blobs, which keeps nothing in it.
  Blobs* const blobs = backend.capabilities().blobs;
  const bool is_cached = cache != nullptr && blobs != nullptr && cache->check_folder().ok();
  if (!is_cached) return load_uncached(backend, model, device, options);
  const auto said = [&](std::string_view what) {
    log(LogLevel::kDebug, fmt::format("compile cache: {} on {}: {}", model.name(), device.id(), what));
  };
  // A file whose digest is unknown has no cache entry. It is hashed later, in the background.
  const auto digest =
      model.digest([&](const std::filesystem::path& file) { return cache->store()->digests().known(file); });
  // The digest must be of the bytes that the model was opened with, not of the file that has the name now.
  LB_RETURN_IF_ERROR(model.check_bytes());
  std::optional<CompileKey> refused;
  if (digest.ok()) {
    const CompileKey key = make_compile_key(*digest, model.name(), device, options);
    const auto blob = cache->store()->get(key);
    if (blob.ok()) {
      auto executable = load_with_shapes(backend, *blob, device, options);
      if (executable.ok()) {
        said("taken from the cache");
        return executable;
      }
      if (is_the_blobs_fault(executable.status())) refused = key;
      said(fmt::format("the cached model cannot be used: {}", executable.status().to_string()));
    } else {
      said(blob.status().code() == StatusCode::kNotFound ? "not cached yet" : blob.status().to_string());
    }
  } else {
    said(digest.status().to_string());
    if (digest.status().code() == StatusCode::kUnsupported) return load_uncached(backend, model, device, options);
  }

  LB_RETURN_IF_ERROR(model.check_forms());
  const bool settled = is_settled(model, cache->store()->digests());
  LB_ASSIGN_OR_RETURN(auto loaded,
                      load_same_bytes(model, [&] { return blobs->load_exporting(model, device.name, options); }));
  // The device works, so the blob was the cause.
  if (refused) cache->store()->drop(*refused);
  if (!loaded.export_blob) {
    said("the backend does not export a blob");
  } else if (!settled) {
    said("not kept: the model has changed a moment ago");
  } else {
    keep_later(
        *cache, model, digest, fmt::format("{} on {} is not kept in the compile cache", model.name(), device.id()),
        [name = model.name(), device, options](std::string_view digest_of_model) {
          return make_compile_key(digest_of_model, name, device, options);
        },
        std::move(loaded.export_blob));
  }
  return std::move(loaded.executable);
}

Result<std::unique_ptr<Executable>> ready_or_cached_load(Backend& backend, const Model& model, const Device& device,
                                                         const CompileOptions& options, CompileCache* cache) {
  Status refusal;
  std::string passed_over;
  const auto refused = [&](LogLevel level, std::string_view what) {
    passed_over += fmt::format("{}variant {}: {}", passed_over.empty() ? "" : "; ", what, refusal.to_string());
    log(level, fmt::format("{} on {}: variant {}: {}", model.name(), device.id(), what, refusal.to_string()));
  };
  const auto ready_blobs =
      model.blobs() == nullptr ? std::vector<ReadyBlob>() : model.blobs()->blobs_for(device, options);
  for (const ReadyBlob& ready : ready_blobs) {
    LB_RETURN_IF_ERROR(model.check_bytes());
    refusal = check_blob(backend, ready.label, device.name, without_shapes(options));
    if (!refusal.ok()) {
      refused(LogLevel::kInfo, fmt::format("'{}' does not do", ready.name));
      continue;
    }
    const auto blob = ready.open();
    if (!blob.ok()) {
      refusal = blob.status();
      refused(LogLevel::kWarning, fmt::format("'{}' cannot be read", ready.name));
      continue;
    }
    auto executable = load_same_bytes(model, [&] { return load_with_shapes(backend, *blob, device, options); });
    if (executable.ok()) {
      log(LogLevel::kInfo, fmt::format("{} on {}: variant '{}' is used", model.name(), device.id(), ready.name));
      (*executable)->set_passed_over(std::move(passed_over));
      return executable;
    }
    refusal = executable.status();
    refused(LogLevel::kInfo, fmt::format("'{}' does not do", ready.name));
  }
  // If the model has only blobs, the last blob's error is returned.
  if (model.has_blobs_only() && !refusal.ok()) {
    return refusal.with_context(fmt::format("{} has only compiled forms", model.name()));
  }
  auto executable = cached_load(backend, model, device, options, cache);
  if (executable.ok()) (*executable)->set_passed_over(std::move(passed_over));
  return executable;
}

}  // namespace latebind::core

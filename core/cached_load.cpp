#include "core/cached_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/blob_source.h"
#include "core/log.h"
#include "core/platform/file_identity.h"

namespace latebind::core {
namespace {

// A file that was changed just now could change again without being told apart.
constexpr std::int64_t kSettledNs = 2'000'000'000;

struct KnownFile {
  std::filesystem::path file;
  platform::FileIdentity identity;
};

// The files that the vendor reads while loading, as they are now.
Result<std::vector<KnownFile>> files_of(const Model& model) {
  std::vector<KnownFile> files;
  for (const auto& file : model.files()) {
    LB_ASSIGN_OR_RETURN(const auto identity, platform::file_identity(file));
    if (platform::age_ns(identity) < kSettledNs) {
      return Status(StatusCode::kBusy, fmt::format("{} was changed a moment ago", model.name()));
    }
    files.push_back({file, identity});
  }
  return files;
}

// What a blob was made for must be what it is loaded for.
Status check_shapes(const Executable& executable, const CompileOptions& options) {
  const auto inputs = executable.inputs();
  const auto& shapes = options.input_shapes;
  if (shapes.empty()) return {};
  const bool same = std::ranges::equal(inputs, shapes, {}, &TensorInfo::shape);
  return same ? Status() : Status(StatusCode::kIncompatibleBlob, "the blob has other input shapes");
}

Result<std::unique_ptr<Executable>> load_blob(Backend& backend, const Blob& blob, const Device& device,
                                              const CompileOptions& options) {
  CompileOptions plain = options;
  plain.input_shapes.clear();  // they are in the blob
  LB_ASSIGN_OR_RETURN(auto executable, backend.load(blob, device.name, plain));
  LB_RETURN_IF_ERROR(check_shapes(*executable, options));
  return executable;
}

}  // namespace

Result<std::unique_ptr<Executable>> cached_load(Backend& backend, const Model& model, const Device& device,
                                                const CompileOptions& options, CompileCache* cache) {
  if (cache == nullptr) {
    LB_RETURN_IF_ERROR(model.check_forms());
    return backend.load(model, device.name, options);
  }
  const auto said = [&](std::string_view what) {
    log(LogLevel::kDebug, fmt::format("compile cache: {} on {}: {}", model.name(), device.id(), what));
  };
  // Where nothing is known of a file yet, there can be nothing in the cache: it is hashed later, in the background.
  const auto digest =
      model.digest([&](const std::filesystem::path& file) { return cache->store()->digests().known(file); });
  if (digest.ok()) {
    const CompileKey key = make_compile_key(*digest, model.name(), device, options);
    const auto blob = cache->store()->get(key);
    if (blob.ok()) {
      auto executable = load_blob(backend, *blob, device, options);
      if (executable.ok()) {
        said("taken from the cache");
        return executable;
      }
      cache->store()->drop(key);
      said(fmt::format("what was cached can not be used: {}", executable.status().to_string()));
    } else {
      said(blob.status().code() == StatusCode::kNotFound ? "not cached yet" : blob.status().to_string());
    }
  } else {
    if (digest.status().code() == StatusCode::kUnsupported) {
      said(digest.status().to_string());
      return cached_load(backend, model, device, options, nullptr);
    }
    said(digest.status().to_string());
  }

  LB_RETURN_IF_ERROR(model.check_forms());
  // Taken before loading, so that a file that is replaced meanwhile can not give its name to the old one's blob.
  auto files = files_of(model);
  LB_ASSIGN_OR_RETURN(auto loaded, backend.load_exporting(model, device.name, options));
  if (!loaded.export_blob) {
    said("the backend gives no blob");
  } else if (!files.ok()) {
    said(fmt::format("not kept: {}", files.status().to_string()));
  } else {
    auto keep = [store = cache->store(), model, device, options, files = *std::move(files),
                 export_blob = std::move(loaded.export_blob)]() -> Status {
      LB_RETURN_IF_ERROR(store->make_folder());
      LB_ASSIGN_OR_RETURN(const auto blob, export_blob());
      LB_ASSIGN_OR_RETURN(const auto found, model.digest([&](const auto& file) { return store->digests().of(file); }));
      for (const KnownFile& known : files) {
        LB_ASSIGN_OR_RETURN(const auto now, platform::file_identity(known.file));
        if (now != known.identity) return Status(StatusCode::kIo, "the model was replaced while it was being loaded");
      }
      return store->put(make_compile_key(found, model.name(), device, options), blob);
    };
    cache->later(fmt::format("{} on {} is not kept in the compile cache", model.name(), device.id()), std::move(keep));
  }
  return std::move(loaded.executable);
}

Result<std::unique_ptr<Executable>> ready_or_cached_load(Backend& backend, const Model& model, const Device& device,
                                                         const CompileOptions& options, CompileCache* cache) {
  Status refusal;
  if (model.blobs() != nullptr) {
    for (const ReadyBlob& ready : model.blobs()->blobs_for(device, options)) {
      const auto blob = ready.open();
      if (blob.ok()) {
        auto executable = load_blob(backend, *blob, device, options);
        if (executable.ok()) {
          log(LogLevel::kInfo, fmt::format("{} on {}: variant '{}' is used", model.name(), device.id(), ready.name));
          return executable;
        }
        refusal = executable.status();
        log(LogLevel::kInfo, fmt::format("{} on {}: variant '{}' does not do: {}", model.name(), device.id(),
                                         ready.name, refusal.to_string()));
      } else {
        refusal = blob.status();
        log(LogLevel::kWarning,
            fmt::format("{}: variant '{}' can not be read: {}", model.name(), ready.name, refusal.to_string()));
      }
    }
  }
  // With nothing to compile, why the last blob does not do is the answer.
  if (model.forms().empty() && !refusal.ok()) {
    return refusal.with_context(fmt::format("there are only compiled forms of {}", model.name()));
  }
  return cached_load(backend, model, device, options, cache);
}

}  // namespace latebind::core

// Verdicts in the compile cache: the outcome of comparing two devices, stored under everything that it depends on, so
// that the next start need not compare them again. All functions may be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/backend/device.h"
#include "core/backend/executable.h"
#include "core/cache/compile_cache.h"
#include "core/cache/compile_key.h"
#include "core/model/model.h"

namespace latebind::core {

struct Verdict {
  bool agrees = false;
  std::string text;  // why, in one line
};

// Everything that was compared.
struct VerdictSubject {
  Device device;
  CompileOptions compile;
  ActiveConfig active;  // of the device, as loaded
  Device reference;
  CompileOptions reference_options;
  std::string samples;  // VerificationOptions::samples_name
  // The results of BlobSource::digest_for() for the device and for the reference; empty when the model comes without
  // blobs.
  std::string blobs{};
};

// Makes the key under which the verdict is stored.
[[nodiscard]] CompileKey make_verdict_key(std::string_view model_digest, std::string_view model_name,
                                          const VerdictSubject& subject);

// Returns the stored verdict. std::nullopt when none is stored, when the cache is off (null) or cannot be used, or when
// the model comes with blobs whose digests are not recorded.
[[nodiscard]] std::optional<Verdict> find_verdict(CompileCache* cache, const Model& model, VerdictSubject subject);
// Stores the verdict a little later, after the model's bytes were compared with its digest. Does nothing in the cases
// in which find_verdict() does not look.
void keep_verdict(CompileCache* cache, const Model& model, VerdictSubject subject, const Verdict& verdict);

}  // namespace latebind::core

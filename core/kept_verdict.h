// Verdicts in the compile cache: what came of comparing two devices, under everything that it depends on, so that the
// next start need not compare them again. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/compile_cache.h"
#include "core/compile_key.h"
#include "core/device.h"
#include "core/executable.h"
#include "core/model.h"

namespace latebind::core {

struct Verdict {
  bool agrees = false;
  std::string text;  // why, in one line
};

// What was compared.
struct VerdictSubject {
  Device device;
  CompileOptions compile;
  ActiveConfig active;  // of the device, as loaded
  Device reference;
  CompileOptions reference_options;
  std::string samples;  // VerificationOptions::samples_name
  // BlobSource::digest_for() of the blobs that come with the model, for the device and for the reference; empty: none
  // do.
  std::string blobs{};
};

[[nodiscard]] CompileKey make_verdict_key(std::string_view model_digest, std::string_view model_name,
                                          const VerdictSubject& subject);

// Nothing where there is none, the cache is off (null), or it cannot be used; nor for a model that brings blobs of
// which nothing is recorded.
[[nodiscard]] std::optional<Verdict> find_verdict(CompileCache* cache, const Model& model, VerdictSubject subject);
// A little later, once the bytes have been verified against what the model says. Where find_verdict() would not look,
// nothing.
void keep_verdict(CompileCache* cache, const Model& model, VerdictSubject subject, const Verdict& verdict);

}  // namespace latebind::core

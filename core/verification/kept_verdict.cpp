#include "core/verification/kept_verdict.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "core/backend/blob_source.h"
#include "core/cache/cached_load.h"
#include "core/json/read.h"
#include "core/platform/digest.h"

namespace latebind::core {
namespace {

// Increase it when the bounds or the way of comparing change.
constexpr int kVerdictFormat = 1;
// The largest size of a verdict.
constexpr std::size_t kVerdictBytesMax = 4096;

// Returns the subject completed with the digests of the model's blobs; std::nullopt when they are not recorded, or when
// there is no cache.
std::optional<VerdictSubject> whole_subject(CompileCache* cache, const Model& model, VerdictSubject subject) {
  if (cache == nullptr || !cache->check_folder().ok()) return std::nullopt;
  const BlobSource* const blobs = model.blobs();
  if (blobs == nullptr) return subject;
  const std::string of_device = blobs->digest_for(subject.device, subject.compile);
  const std::string of_reference = blobs->digest_for(subject.reference, subject.reference_options);
  if (of_device.empty() || of_reference.empty()) return std::nullopt;
  subject.blobs = of_device + " " + of_reference;
  return subject;
}

Status prove_blobs(const Model& model, const VerdictSubject& subject) {
  if (subject.blobs.empty()) return {};
  LB_RETURN_IF_ERROR(model.blobs()->prove_for(subject.device, subject.compile));
  return model.blobs()->prove_for(subject.reference, subject.reference_options);
}

Result<Verdict> parse_verdict(std::span<const std::byte> bytes) {
  constexpr std::string_view kVerdictName = "a kept verdict";
  LB_ASSIGN_OR_RETURN(const Json object, parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                                    kVerdictName, {.bytes_max = kVerdictBytesMax}));
  Verdict verdict;
  LB_ASSIGN_OR_RETURN(verdict.agrees, read_bool(object, "agrees", false, kVerdictName));
  LB_ASSIGN_OR_RETURN(verdict.text, read_text(object, "text", "", kVerdictName));
  return verdict;
}

}  // namespace

CompileKey make_verdict_key(std::string_view model_digest, std::string_view model_name, const VerdictSubject& subject) {
  CompileKey result = make_compile_key(model_digest, model_name, subject.device, subject.compile);
  const CompileKey reference = make_compile_key(model_digest, model_name, subject.reference, subject.reference_options);
  Json key{{"verdict", kVerdictFormat},
           {"samples", subject.samples},
           {"device", result.text},
           {"reference", reference.text},
           {"precision", word_of(subject.active.precision)},
           {"static_lengths", subject.active.static_lengths},
           {"static_rows", subject.active.static_rows}};
  if (!subject.blobs.empty()) key["blobs"] = subject.blobs;
  result.text = key.dump();
  result.digest = platform::sha256_hex(std::as_bytes(std::span(result.text)));
  result.model = fmt::format("{}, compared with {}", model_name, subject.reference.id());
  return result;
}

std::optional<Verdict> find_verdict(CompileCache* cache, const Model& model, VerdictSubject subject) {
  const auto whole = whole_subject(cache, model, std::move(subject));
  if (!whole) return std::nullopt;
  CompileStore& store = *cache->store();
  // If the digest of the model's bytes is unknown, there can be no verdict.
  const auto digest = model.digest([&](const auto& file) { return store.digests().known(file); });
  if (!digest.ok() || !model.check_bytes().ok()) return std::nullopt;
  const auto blob = store.get(make_verdict_key(*digest, model.name(), *whole));
  if (!blob.ok()) return std::nullopt;
  auto verdict = parse_verdict(blob->bytes.bytes);
  if (!verdict.ok()) return std::nullopt;
  return *std::move(verdict);
}

void keep_verdict(CompileCache* cache, const Model& model, VerdictSubject subject, const Verdict& verdict) {
  const auto whole = whole_subject(cache, model, std::move(subject));
  if (!whole) return;
  const Json object{{"agrees", verdict.agrees}, {"text", verdict.text}};
  const std::string text = object.dump();
  if (text.size() > kVerdictBytesMax) return;
  const Blob blob{{.backend = whole->device.backend,
                   .device = whole->device.name,
                   .runtime_version = whole->device.runtime_version,
                   .precision = whole->active.precision},
                  SharedBytes::from_string(text)};
  keep_later(
      *cache, model, Status(StatusCode::kNotFound, "computed in the background"),
      fmt::format("the verdict about {} on {} is not kept", model.name(), whole->device.id()),
      [name = model.name(), subject = *whole](std::string_view digest) {
        return make_verdict_key(digest, name, subject);
      },
      [blob, model, subject = *whole]() -> Result<Blob> {
        LB_RETURN_IF_ERROR(prove_blobs(model, subject));
        return blob;
      });
}

}  // namespace latebind::core

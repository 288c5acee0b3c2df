// The group "blob": compiled models, as good as what they were compiled from, and refused where they do not belong.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "core/backend/questions.h"
#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/networks/graph_model.h"
#include "kit/trial.h"

namespace latebind::kit {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr const char* kNoBlobs = "it has no blobs";

struct CompiledSample {
  core::Backend* backend = nullptr;
  LoadedSample loaded;
  core::CompileOptions options;
  std::string device;
  core::Blob blob;
};

// A sample, loaded and compiled. kUnsupported if the backend has no blobs.
Result<CompiledSample> compile_sample(Context& context) {
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  LB_RETURN_IF_ERROR(backend->available());
  if (backend->capabilities().blobs == nullptr) return Status(StatusCode::kUnsupported, kNoBlobs);
  LB_ASSIGN_OR_RETURN(const core::Device device, context.device());
  LB_ASSIGN_OR_RETURN(LoadedSample loaded, load_sample(context));
  core::CompileOptions options;
  options.precision = default_precision(device);
  context.step("compile()");
  auto blob = core::compile_blob(*backend, model_of(loaded.sample.graph), device.name, options);
  if (!blob.ok()) return blob.status();
  return CompiledSample{backend, std::move(loaded), options, device.name, *std::move(blob)};
}

// Runs the check with a compiled sample, or says why there is none.
template <class Function>
Result<Finding> with_blob(Context& context, const Function& function) {
  auto compiled = compile_sample(context);
  if (!compiled.ok() && compiled.status().code() == StatusCode::kUnsupported)
    return absent(std::string(compiled.status().message()));
  if (!compiled.ok()) return compiled.status();
  return function(*compiled);
}

Result<Finding> load_what_was_compiled(Context& context) {
  return with_blob(context, [&](CompiledSample& made) -> Result<Finding> {
    context.step("load_blob()");
    LB_ASSIGN_OR_RETURN(const auto loaded, core::load_blob(*made.backend, made.blob, made.device, made.options));
    std::mt19937 chance(context.options().seed);
    for (int i = 0; i < 5; ++i) {
      const Inputs batch = made.loaded.sample.batch(chance, 3 + i);
      LB_ASSIGN_OR_RETURN(const auto direct, run_arrays(*made.loaded.executable, batch));
      LB_ASSIGN_OR_RETURN(const auto found, run_arrays(*loaded, batch));
      for (std::size_t output = 0; output < direct.size(); ++output) {
        if (found[output].values != direct[output].values)
          return wrong("a model that was loaded from its blob gives other numbers than the model itself");
      }
    }
    return passed(fmt::format("{} bytes", made.blob.bytes.bytes.size()));
  });
}

Result<Finding> refuse_foreign_blobs(Context& context) {
  return with_blob(context, [&](CompiledSample& made) -> Result<Finding> {
    const auto refuse = [&](const char* what, const core::Blob& blob) -> Status {
      context.step(fmt::format("load_blob() of {}", what));
      const Status status = core::load_blob(*made.backend, blob, made.device, made.options).status();
      if (status.code() == StatusCode::kIncompatibleBlob) return {};
      return wrong(fmt::format("a blob of {} gives {} and not LBB_INCOMPATIBLE_BLOB: {}", what,
                               core::name_of(status.code()), status.to_string()));
    };
    core::Blob changed = made.blob;
    changed.device = "NPU.9999";
    LB_RETURN_IF_ERROR(refuse("another device", changed));
    changed = made.blob;
    changed.runtime_version = "0.0.kit";
    LB_RETURN_IF_ERROR(refuse("another version", changed));
    changed = made.blob;
    changed.precision = made.blob.precision == core::Precision::kF32 ? core::Precision::kF16 : core::Precision::kF32;
    LB_RETURN_IF_ERROR(refuse("another precision", changed));
    return passed();
  });
}

// Cut off at many places, and with single bits changed. A changed bit among weights need not be noticed.
Result<Finding> survive_damaged_blobs(Context& context) {
  return with_blob(context, [&](CompiledSample& made) -> Result<Finding> {
    const auto bytes = made.blob.bytes.bytes;
    const std::string whole(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::mt19937 chance(context.options().seed);
    std::size_t loaded = 0;
    constexpr std::size_t kTimes = 60;
    for (std::size_t i = 0; i < kTimes; ++i) {
      std::string damaged = whole;
      const std::size_t at = std::uniform_int_distribution<std::size_t>(0, whole.size() - 1)(chance);
      const bool is_cut = i % 2 == 0;
      if (is_cut) damaged.resize(i == 0 ? whole.size() - 1 : at);
      if (!is_cut) damaged[at] = static_cast<char>(damaged[at] ^ (1 << (i / 2 % 8)));
      core::Blob changed = made.blob;
      changed.bytes = core::SharedBytes::from_string(damaged);
      context.step(fmt::format("load_blob() of a blob {} byte {} of {}",
                               is_cut ? "cut off at" : "with a changed bit in", is_cut ? damaged.size() : at,
                               whole.size()));
      const auto executable = core::load_blob(*made.backend, changed, made.device, made.options);
      if (!executable.ok()) continue;
      if (is_cut)
        return wrong(
            fmt::format("load_blob() takes a blob that was cut off at byte {} of {}", damaged.size(), whole.size()));
      ++loaded;
    }
    LB_RETURN_IF_ERROR(core::load_blob(*made.backend, made.blob, made.device, made.options).status());
    return passed(fmt::format("{} of {} changed bits were not noticed", loaded, kTimes / 2));
  });
}

constexpr Check kBlobChecks[] = {
    {.name = "blob.same",
     .what = "A model that was loaded from its blob gives the same numbers, bit for bit.",
     .run = load_what_was_compiled,
     .time = std::chrono::seconds(120)},
    {.name = "blob.foreign",
     .what = "Blobs of another device, version or precision are refused with LBB_INCOMPATIBLE_BLOB.",
     .run = refuse_foreign_blobs,
     .time = std::chrono::seconds(120)},
    {.name = "blob.damaged",
     .what = "Damaged blobs do no harm, and a blob that was cut off is refused.",
     .run = survive_damaged_blobs,
     .time = std::chrono::seconds(120)}};

}  // namespace

std::span<const Check> blob_checks() {
  return kBlobChecks;
}

}  // namespace latebind::kit

// Compiles for targets: from words such as "npu:v73" to blobs, and from blobs to variants of a bundle.
//
// A target is "cpu", "gpu", "npu", one of these with an architecture ("npu:v73"), or a device's full name
// ("openvino:CPU", "onnxruntime:QNN.v73"). The device need not be in this machine, but its compiler must be.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/registry.h"
#include "core/bundle/package_writer.h"
#include "core/bundle/refused_target.h"
#include "core/result.h"

namespace latebind::core {

struct CompileTarget {
  std::string text;  // as the user wrote it
  std::shared_ptr<Backend> backend;
  Device device;
};

// Everything that this machine can compile for. The constructor asks the backends, once. May be used from any thread.
class CompileTargets {
 public:
  explicit CompileTargets(const Registry& registry);

  // Returns the target on the first backend that can compile for it. kDeviceNotFound lists the known targets;
  // kLibraryNotFound, when the compiler is not installed, says what is missing and where to get it.
  [[nodiscard]] Result<CompileTarget> find(std::string_view text) const;
  // Returns false when a backend could not be asked, so that it may know a target which was not found.
  [[nodiscard]] bool all_asked() const { return reasons_.empty(); }

 private:
  std::vector<CompileTarget> all_;
  std::vector<std::string> reasons_;  // of backends that could not be asked
};

// Returns the precision in which a device computes by default: f32 if it can, otherwise what it reports, and f16 for
// NPUs.
[[nodiscard]] Precision default_precision(const Device& device);

struct CompileJob {
  CompileTarget target;
  CompileOptions options;
};

// Returns the variant's name: "npu-v73-f16-1x32".
[[nodiscard]] std::string variant_name(const CompileJob& job);

struct CompileOutcome {
  std::optional<Blob> blob{};
  Status status{};     // why there is no blob
  std::string note{};  // nodes that were left to the CPU
  LeftNodes left{};    // those nodes, with or without a blob, if the compiler names them
  double seconds = 0;
};

struct CompileRun {
  // The number of jobs that are compiled at once.
  unsigned side_by_side = 1;
  // Makes nodes that would be left to the CPU an error; otherwise they are noted.
  bool strict = false;
  // Goes on after a failure; otherwise no new job is started after the first one.
  bool keep_going = false;
  // No new job is started once this is requested.
  Cancellation cancellation{};
  // Called when a job begins (with null) and when it is done, by several threads, but by one at a time.
  std::function<void(std::size_t job, const CompileOutcome* outcome)> tell{};
};

// Compiles all jobs on its own threads. Returns one outcome for each job, in their order; kCancelled for those that
// were not started.
[[nodiscard]] std::vector<CompileOutcome> compile_all(const Model& model, std::span<const CompileJob> jobs,
                                                      const CompileRun& run);

// Returns the variant "portable" of a model file in this format, without its files: the caller adds `files` and what
// else it needs. Stock ONNX Runtime takes an ONNX file on any CPU.
[[nodiscard]] VariantInput portable_input(ModelFormat format);

// Checks whether an ONNX file can be the portable model of a bundle; `name` is its name for messages. kUnsupported when
// it has data in other files. Cheap, so call it before anything is compiled.
[[nodiscard]] Status check_portable_onnx(std::span<const std::byte> bytes, std::string_view name);

// Adds the portable variant of a model in a file: an ONNX file, or an IR with its .bin. kUnsupported for an ONNX model
// with data in other files.
[[nodiscard]] Status add_portable(const Model& model, PackageWriter& writer);

// Returns the variant that carries the outcome's blob. For plugin providers it is an ONNX model that stock ONNX Runtime
// loads with them.
[[nodiscard]] VariantInput variant_of(const CompileJob& job, const CompileOutcome& outcome);

// Returns what a bundle records about an outcome without a blob, if the model is the cause; std::nullopt if memory or a
// file was missing, because that does not predict the next attempt. The reason names the model's files without their
// folders.
[[nodiscard]] std::optional<RefusedTarget> refused_target(const Model& model, const CompileJob& job,
                                                          const CompileOutcome& outcome);

}  // namespace latebind::core

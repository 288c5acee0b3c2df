// Compiling for targets: from words such as "npu:v73" to blobs, and from blobs to variants of a bundle.
//
// A target is "cpu", "gpu", "npu", or one of these with an architecture ("npu:v73"), or a device's full name
// ("openvino:CPU", "onnxruntime:QNN.v73"). The device need not be in this machine; its compiler must be.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend.h"
#include "core/bundle/package_writer.h"
#include "core/bundle/refused_target.h"
#include "core/registry.h"
#include "core/result.h"

namespace latebind::core {

struct CompileTarget {
  std::string text;  // as it was asked for
  std::shared_ptr<Backend> backend;
  Device device;
};

// Everything that can be compiled for here: the backends are asked once, on construction. Any thread.
class CompileTargets {
 public:
  explicit CompileTargets(const Registry& registry);

  // The first backend that can compile for it. kDeviceNotFound with the known targets; kLibraryNotFound, with what is
  // missing and where to get it, when the compiler is not installed.
  [[nodiscard]] Result<CompileTarget> find(std::string_view text) const;
  // False when a backend could not be asked, so that a target which is not found may be one of its.
  [[nodiscard]] bool all_asked() const { return reasons_.empty(); }

 private:
  std::vector<CompileTarget> all_;
  std::vector<std::string> reasons_;  // of backends that could not be asked
};

// The precision in which a device computes by default: f32 where it can, else what it reports, f16 for NPUs.
[[nodiscard]] Precision default_precision(const Device& device);

struct CompileJob {
  CompileTarget target;
  CompileOptions options;
};

// "npu-v73-f16-1x32": the variant's name.
[[nodiscard]] std::string variant_name(const CompileJob& job);

struct CompileOutcome {
  std::optional<Blob> blob{};
  Status status{};     // why there is none
  std::string note{};  // nodes that were left to the CPU
  LeftNodes left{};    // the same, of a blob or where there is none, as far as the compiler says which
  double seconds = 0;
};

struct CompileRun {
  // How many are compiled at once.
  unsigned side_by_side = 1;
  // Nodes that would be left to the CPU are an error; else they are noted.
  bool strict = false;
  // After the first failure nothing new is started.
  bool keep_going = false;
  // Once it is requested nothing new is started.
  Cancellation cancellation{};
  // Called by several threads, one at a time, when a job begins (no outcome) and when it is done.
  std::function<void(std::size_t job, const CompileOutcome* outcome)> tell{};
};

// One outcome for each job, in their order; kCancelled for those that were not started. Uses threads of its own.
[[nodiscard]] std::vector<CompileOutcome> compile_all(const Model& model, std::span<const CompileJob> jobs,
                                                      const CompileRun& run);

// The variant "portable" of a model file in this format, without its files: the caller adds `files` and what else it
// needs. Stock ONNX Runtime takes an ONNX file on any CPU.
[[nodiscard]] VariantInput portable_input(ModelFormat format);

// Whether an ONNX file can be the portable one of a bundle; `name` stands for it. kUnsupported for one with data in
// other files. Cheap: to be asked before anything is compiled.
[[nodiscard]] Status check_portable_onnx(std::span<const std::byte> bytes, std::string_view name);

// Adds the portable variant of a model in a file, an ONNX file or an IR with its .bin. kUnsupported for an ONNX model
// with data in other files.
[[nodiscard]] Status add_portable(const Model& model, PackageWriter& writer);

// The variant that carries the outcome's blob: for plugin providers an ONNX model that stock ONNX Runtime loads with
// them.
[[nodiscard]] VariantInput variant_of(const CompileJob& job, const CompileOutcome& outcome);

// What a bundle keeps of an outcome without a blob, where that is because of the model: nothing where memory or a file
// was missing, which says nothing about the next time. The reason names the model's files without their folders.
[[nodiscard]] std::optional<RefusedTarget> refused_target(const Model& model, const CompileJob& job,
                                                          const CompileOutcome& outcome);

}  // namespace latebind::core

// Compiled: a compiled model with its inputs and outputs. Executables run it, and blobs are exported from it.
//
// It is constant after construction, shared by its requests, and may be used from any thread. Destroying the last one
// of the process also destroys the cores that calls share (shared_core.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/openvino/packed_inputs.h"
#include "backends/openvino/properties.h"
#include "backends/openvino/shared_core.h"
#include "backends/openvino/shared_runs.h"
#include "core/backend/executable.h"
#include "core/model/model.h"

namespace latebind::openvino {

struct Compiled {
  // The members are destroyed in reverse order.
  ModelCount count;
  std::shared_ptr<const VendorCore> core;
  // The vendor reads the weights in place, from the model's files or a blob, as long as the compiled model lives.
  core::Model source;
  core::SharedBytes blob;  // empty if the model was compiled here
  CompiledModelHandle handle;

  std::string device;
  Active active;
  std::vector<core::TensorInfo> inputs;  // as callers see them
  std::vector<core::TensorInfo> outputs;
  // For each output, whether the vendor reliably writes to memory that it is given. That requires that its shape is
  // known before the run, and that it is not an input passed through, which the CPU plugin (2024.6 to 2026.4) does not
  // write.
  std::vector<bool> direct;
  // The vendor's inputs: those of the caller unless tokens are packed.
  std::vector<core::TensorInfo> vendor_inputs;
  std::optional<Packing> packing;
  // Set if a failed run may change the results of other runs; otherwise null.
  std::unique_ptr<SharedRuns> shared_runs;

  // Runs before the members are destroyed.
  ~Compiled() { threads_are_left(); }

  [[nodiscard]] const Library& library() const { return *core->library; }
};

// Reads the model (its IR form, its graph as IR, or its ONNX form) and compiles it. Returns kInvalidModel if the vendor
// cannot read it, kDeviceFailed if it cannot compile it, and kUnsupported for what Latebind or the device does not
// support.
[[nodiscard]] core::Result<std::shared_ptr<const Compiled>> compile_model(std::shared_ptr<const VendorCore> core,
                                                                          const core::Model& model,
                                                                          const std::string& device,
                                                                          const core::CompileOptions& options);

// Imports a blob, whose bytes are kept alive. Returns kIncompatibleBlob if the vendor rejects it. Sets properties on
// `core` itself, because an import uses those. Therefore no other import may run on this core at the same time, and
// nothing that relies on the core's own properties should be compiled on it.
[[nodiscard]] core::Result<std::shared_ptr<const Compiled>> import_blob(std::shared_ptr<const VendorCore> core,
                                                                        const core::Blob& blob,
                                                                        const std::string& device,
                                                                        const core::CompileOptions& options);

// Exports the model. The vendor exports only to a file, which is in a private folder that exists as long as the blob.
// Returns kDiskFull if the file is incomplete, which the vendor does not report.
[[nodiscard]] core::Result<core::Blob> export_blob(const Compiled& compiled);

}  // namespace latebind::openvino

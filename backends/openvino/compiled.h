// A compiled model with its inputs and outputs: what an Executable runs and what a Blob is exported from.
//
// Constant after construction, shared by the requests made from it; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/openvino/properties.h"
#include "backends/openvino/vendor_core.h"
#include "core/executable.h"
#include "core/model.h"

namespace latebind::openvino {

struct Compiled {
  // In the order in which they must go, last first.
  std::shared_ptr<const VendorCore> core;
  // Weights stay where they are, in a model's files or in a blob: the vendor reads them as long as the compiled model
  // lives.
  core::Model source;
  core::SharedBytes blob;  // empty when it was compiled here
  CompiledModelHandle handle;

  std::string device;
  Active active;
  std::vector<core::TensorInfo> inputs;
  std::vector<core::TensorInfo> outputs;
  // Outputs that the vendor can be trusted to write to memory that it is given: their shape is known before the run,
  // and they are not an input passed through, for which the CPU plugin (2024.6 to 2026.4) forgets to write at all.
  std::vector<bool> direct;

  [[nodiscard]] const Library& library() const { return *core->library; }
};

// Reads the model (its IR form, its graph as IR, else ONNX) and compiles it. kInvalidModel when the vendor cannot read
// it, kDeviceFailed when it cannot compile it, kUnsupported for what Latebind or the device has not.
[[nodiscard]] core::Result<std::shared_ptr<const Compiled>> compile_model(std::shared_ptr<const VendorCore> core,
                                                                          const core::Model& model,
                                                                          const std::string& device,
                                                                          const core::CompileOptions& options);

// From the bytes of a blob, which are kept alive. kIncompatibleBlob when the vendor refuses them. Sets properties on
// `core` itself, for that is what an import goes by: no other import may run on this core meanwhile, and nothing should
// be compiled on it that relies on the core's own properties.
[[nodiscard]] core::Result<std::shared_ptr<const Compiled>> import_blob(std::shared_ptr<const VendorCore> core,
                                                                        const core::Blob& blob,
                                                                        const std::string& device,
                                                                        const core::CompileOptions& options);

// The vendor exports to a file only: it goes through a private folder that is gone at the end.
[[nodiscard]] core::Result<core::Blob> export_blob(const Compiled& compiled);

}  // namespace latebind::openvino

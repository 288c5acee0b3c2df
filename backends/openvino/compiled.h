// A compiled model with its inputs and outputs: an Executable runs it and a Blob is exported from it.
//
// Constant after construction, shared by the requests made from it; any thread. Whoever destroys the last one of the
// process destroys the cores that calls share as well (backends/openvino/shared_core.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/openvino/packed_inputs.h"
#include "backends/openvino/properties.h"
#include "backends/openvino/shared_core.h"
#include "core/executable.h"
#include "core/model.h"

namespace latebind::openvino {

struct Compiled {
  // In reverse order of destruction.
  ModelCount count;
  std::shared_ptr<const VendorCore> core;
  // Weights stay in place, in a model's files or in a blob: the vendor reads them as long as the compiled model lives.
  core::Model source;
  core::SharedBytes blob;  // empty when it was compiled here
  CompiledModelHandle handle;

  std::string device;
  Active active;
  std::vector<core::TensorInfo> inputs;  // of a caller
  std::vector<core::TensorInfo> outputs;
  // Outputs that the vendor reliably writes to memory that it is given: their shape is known before the run, and they
  // are not an input passed through, which the CPU plugin (2024.6 to 2026.4) fails to write at all.
  std::vector<bool> direct;
  // The vendor's inputs: those of a caller, unless tokens are packed.
  std::vector<core::TensorInfo> vendor_inputs;
  std::optional<Packing> packing;

  // Before any of that goes.
  ~Compiled() { threads_are_left(); }

  [[nodiscard]] const Library& library() const { return *core->library; }
};

// Reads the model (its IR form, its graph as IR, else ONNX) and compiles it. kInvalidModel when the vendor cannot read
// it, kDeviceFailed when it cannot compile it, kUnsupported for what Latebind or the device does not support.
[[nodiscard]] core::Result<std::shared_ptr<const Compiled>> compile_model(std::shared_ptr<const VendorCore> core,
                                                                          const core::Model& model,
                                                                          const std::string& device,
                                                                          const core::CompileOptions& options);

// From the bytes of a blob, which are kept alive. kIncompatibleBlob when the vendor rejects them. Sets properties on
// `core` itself, because an import uses those: no other import may run on this core meanwhile, and nothing should be
// compiled on it that relies on the core's own properties.
[[nodiscard]] core::Result<std::shared_ptr<const Compiled>> import_blob(std::shared_ptr<const VendorCore> core,
                                                                        const core::Blob& blob,
                                                                        const std::string& device,
                                                                        const core::CompileOptions& options);

// The vendor exports to a file only: this uses a private folder that is removed at the end. kDiskFull when what is
// there is not complete, which the vendor does not report.
[[nodiscard]] core::Result<core::Blob> export_blob(const Compiled& compiled);

}  // namespace latebind::openvino

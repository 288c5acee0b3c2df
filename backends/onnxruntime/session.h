// Session: a model that the vendor has loaded, and what it declares. Made from a model or from a blob.
//
// Constant after construction; the vendor runs one session from several threads at once.
#pragma once

#include <memory>
#include <vector>

#include "backends/onnxruntime/declaration.h"
#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/session_options.h"
#include "core/executable.h"
#include "core/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

struct Session {
  // In the order in which they must be outlived.
  std::shared_ptr<const Environment> environment;
  // What the vendor reads in place.
  std::vector<core::SharedBytes> kept;
  bool from_blob = false;
  Owned<abi::Session> handle{nullptr, nullptr};

  std::vector<core::TensorInfo> inputs;
  std::vector<core::TensorInfo> outputs;
};

// The vendor computes in what the model is written in: f32. kUnsupported for any other precision, and for a model
// without an ONNX form; kInvalidModel with the vendor's text when the model is wrong.
[[nodiscard]] core::Result<Session> load_model(std::shared_ptr<const Environment> environment, const core::Model& model,
                                               const core::CompileOptions& options);

// The vendor's own file of an optimised model, from memory. kIncompatibleBlob when it is not one.
[[nodiscard]] core::Result<Session> load_blob(std::shared_ptr<const Environment> environment, const core::Blob& blob,
                                              const core::CompileOptions& options);

// Such a file, from a model; `kind` is kCompile or kCompileHere.
[[nodiscard]] core::Result<core::SharedBytes> compile_model(const Environment& environment, const core::Model& model,
                                                            const core::CompileOptions& options, SessionKind kind);

}  // namespace latebind::onnxruntime

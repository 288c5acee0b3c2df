// PreparedModel: what a session of the vendor is created from, to run the model or to compile it.
//
// Any thread.
#pragma once

#include <string>
#include <vector>

#include "backends/onnxruntime/declaration.h"
#include "backends/onnxruntime/environment.h"
#include "backends/onnxruntime/readable_form.h"
#include "backends/onnxruntime/session_options.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::onnxruntime {

struct PreparedModel {
  ReadableForm readable;
  NamedDimensions dimensions;  // the sizes that the requested shapes give to the model's named dimensions
};

// If shapes are requested, the model is loaded once to get the names of its dimensions. Returns kUnsupported for a
// model without an ONNX form, and the errors of create_session() and apply_shapes().
[[nodiscard]] core::Result<PreparedModel> prepare(const Environment& environment, const core::Model& model,
                                                  const core::CompileOptions& options);

// Returns kInvalidModel with the vendor's text for a damaged model. `name` is for errors.
[[nodiscard]] core::Result<Owned<abi::Session>> create_session(const Environment& environment, const std::string& name,
                                                               const ReadableForm& readable,
                                                               abi::SessionOptions* options);

// Applies the requested shapes to the declared inputs. Returns kCountMismatch or kShapeMismatch.
[[nodiscard]] core::Status apply_shapes(std::span<const core::Shape> shapes, std::vector<Declared>& inputs,
                                        NamedDimensions& dimensions);

}  // namespace latebind::onnxruntime

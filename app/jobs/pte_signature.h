// The signature of an ExecuTorch program: a model's inputs and outputs, with an upper bound for every dimension that
// the model leaves open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/client.h"
#include "app/jobs/compile_input.h"
#include "app/runtime.h"
#include "core/bundle/compile.h"
#include "core/result.h"
#include "core/tensor/tensor.h"
#include "formats/pte/reader.h"
#include "formats/pte/writer.h"

namespace latebind::app {

struct PteSignature {
  std::vector<pte::TensorSpec> inputs;
  std::vector<pte::TensorSpec> outputs;
};

// Texts per batch of an embedding model, unless a largest shape is given. ExecuTorch bounds a tensor's elements, not
// each dimension; with one text per batch, no text can exceed the model's limit.
inline constexpr std::int64_t kPteTexts = 1;

// Returns kInvalidArgument for a value that is not NAME=DIMxDIM… within ExecuTorch's bounds, or for a repeated name.
// pte_signature() checks that the model has such a tensor.
[[nodiscard]] core::Status check_max_shapes(const std::vector<std::string>& max_shapes, const Client& client);

// Returns the signature. `max_shapes` are NAME=1x128 each, for inputs, or for outputs whose size depends on the input
// values. All inputs of an embedding model share the shape given for one of them, by default kPteTexts texts of the
// model's limit. `only` are the input shapes that the program's delegate compiles for exclusively, otherwise empty. A
// model that is not built here is loaded on a CPU to find its outputs and, if dimensions are open, a second time with
// the largest shapes. Returns kInvalidArgument, naming the tensor, if something has no bound, does not fit the model,
// or is contradictory.
[[nodiscard]] core::Result<PteSignature> pte_signature(const CompileInput& input, const Runtime& runtime,
                                                       const std::vector<std::string>& max_shapes,
                                                       const std::vector<core::Shape>& only, const Client& client);

// Returns kInvalidArgument, naming the variant, if a program of this signature cannot use one. An embedding model's
// inputs are padded to the variant's shape and always fit.
[[nodiscard]] core::Status check_variants(const CompileInput& input, std::span<const core::CompileJob> jobs,
                                          const PteSignature& signature, const Client& client);

// Checks that the model can be called with `arguments`, the delegate's inputs and outputs. Returns kCountMismatch,
// kTypeMismatch or kShapeMismatch, naming the first that does not fit.
[[nodiscard]] core::Status check_call(const CompileInput& input, const Runtime& runtime,
                                      const std::vector<pte::Value>& arguments, const Client& client);

}  // namespace latebind::app

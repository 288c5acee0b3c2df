// A model's inputs and outputs, as a program of ExecuTorch has to declare them: with an upper bound for every dimension
// that a model leaves open.
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
#include "core/tensor.h"
#include "formats/pte/reader.h"
#include "formats/pte/writer.h"

namespace latebind::app {

struct PteSignature {
  std::vector<pte::TensorSpec> inputs;
  std::vector<pte::TensorSpec> outputs;
};

// Texts in a batch of an embedding model, unless a largest shape is given. ExecuTorch bounds the elements of a tensor,
// not each dimension: with one text, none can be longer than the model's limit.
inline constexpr std::int64_t kPteTexts = 1;

// kInvalidArgument for what is not NAME=DIMxDIM… within ExecuTorch's bounds, and for a name that is given twice.
// pte_signature() checks whether the model has a tensor of that name.
[[nodiscard]] core::Status check_max_shapes(const std::vector<std::string>& max_shapes, const Client& client);

// `max_shapes`: NAME=1x128 each, of inputs, or of outputs whose size depends on what is in the inputs. An embedding
// model's inputs all have the shape that one of them is given; by default kPteTexts texts of the model's limit.
// `only`: of the inputs, when the program tells the delegate to compile for these shapes alone, else empty. A model
// that is not built here is loaded on a CPU to query it and, where dimensions are open, a second time in the largest
// shapes, so that the outputs are known. kInvalidArgument names what has no bound, does not fit the model, or
// contradicts something else.
[[nodiscard]] core::Result<PteSignature> pte_signature(const CompileInput& input, const Runtime& runtime,
                                                       const std::vector<std::string>& max_shapes,
                                                       const std::vector<core::Shape>& only, const Client& client);

// Whether every variant can be used by a program of this signature; kInvalidArgument names the first that cannot.
// Inputs of a model that embeds text are padded to a variant's shape, and always fit.
[[nodiscard]] core::Status check_variants(const CompileInput& input, std::span<const core::CompileJob> jobs,
                                          const PteSignature& signature, const Client& client);

// Whether the model can be called as a program calls its delegate: with `arguments`, inputs and outputs together.
// kCountMismatch, kTypeMismatch or kShapeMismatch, naming the first that does not fit.
[[nodiscard]] core::Status check_call(const CompileInput& input, const Runtime& runtime,
                                      const std::vector<pte::Value>& arguments, const Client& client);

}  // namespace latebind::app

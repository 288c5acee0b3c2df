// The file that compiled models are written to.
#pragma once

#include <vector>

#include "app/client.h"
#include "app/jobs/compile_input.h"
#include "app/jobs/compile_options.h"
#include "app/jobs/pte_signature.h"
#include "app/runtime.h"
#include "core/bundle/compile.h"
#include "core/result.h"

namespace latebind::app {

// Checks that the bundle's description is UTF-8. kInvalidArgument, with the option that helps. Cheap: to be called
// before anything is compiled.
[[nodiscard]] core::Status check_head(const CompileOptions& options, const CompileInput& input, const Client& client);

// Checks that the model can be the portable one of the bundle, where there is to be one. kUnsupported for an ONNX file
// with data in other files. Cheap, too.
[[nodiscard]] core::Status check_portable(const CompileOptions& options, const CompileInput& input);

// In the format of the options; `outcomes`: of `jobs`, in their order; `signature`: of a program that is made, else
// null. The file appears only when it is complete. The errors of writing, and of what the format cannot express.
[[nodiscard]] core::Status write_compiled(const CompileOptions& options, const Runtime& runtime,
                                          const CompileInput& input, const std::vector<core::CompileJob>& jobs,
                                          const std::vector<core::CompileOutcome>& outcomes,
                                          const PteSignature* signature, const Client& client);

}  // namespace latebind::app

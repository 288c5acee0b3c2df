// Writes the file or folder that compiled models go into.
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

// Returns kInvalidArgument, naming the option that helps, if the bundle's description is not UTF-8. Cheap, so it can
// run before the compilation.
[[nodiscard]] core::Status check_head(const CompileOptions& options, const CompileInput& input, const Client& client);

// Returns kUnsupported if the bundle needs a portable model and this one cannot serve, such as an ONNX file with
// external data. Cheap, too.
[[nodiscard]] core::Status check_portable(const CompileOptions& options, const CompileInput& input);

// Writes the output in the format of the options; it appears only once it is complete. `outcomes` are those of `jobs`,
// in the same order. `signature` is that of a new ExecuTorch program, otherwise null. Returns the errors of writing and
// of what the format cannot express.
[[nodiscard]] core::Status write_compiled(const CompileOptions& options, const Runtime& runtime,
                                          const CompileInput& input, const std::vector<core::CompileJob>& jobs,
                                          const std::vector<core::CompileOutcome>& outcomes,
                                          const PteSignature* signature, const Client& client);

}  // namespace latebind::app

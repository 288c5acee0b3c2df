// The file that `latebind compile` writes.
#pragma once

#include <vector>

#include "cli/compile_input.h"
#include "cli/compile_options.h"
#include "core/bundle/compile.h"
#include "core/result.h"

namespace latebind::cli {

// What the bundle will say of itself can be said: it is UTF-8. kInvalidArgument, with the option that helps. Costs
// nothing: to be asked before anything is compiled.
[[nodiscard]] core::Status check_head(const CompileOptions& options, const CompileInput& input);

// In the format of the options; `outcomes`: of `jobs`, in their order. The file appears only when it is complete. The
// errors of writing, and of what the format cannot say.
[[nodiscard]] core::Status write_compiled(const CompileOptions& options, const Runtime& runtime,
                                          const CompileInput& input, const std::vector<core::CompileJob>& jobs,
                                          const std::vector<core::CompileOutcome>& outcomes);

}  // namespace latebind::cli

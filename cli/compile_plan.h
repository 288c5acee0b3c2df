// What `latebind compile` compiles: every target in every shape, each once.
#pragma once

#include <vector>

#include "cli/compile_input.h"
#include "cli/compile_options.h"
#include "core/bundle/compile.h"
#include "core/result.h"

namespace latebind::cli {

// kInvalidArgument for what is neither a word of --shapes nor a list of shapes.
[[nodiscard]] core::Status check_shapes(const CompileOptions& options);

// The errors of targets that are none, or have no compiler here, and of shapes that do not go with the model; with
// --keep-going, targets that are refused are in `refused` instead.
[[nodiscard]] core::Result<std::vector<core::CompileJob>> plan_compile(const CompileOptions& options,
                                                                       const Runtime& runtime,
                                                                       const CompileInput& input,
                                                                       std::vector<core::Status>& refused);

// How many are compiled at once: --jobs, or what processors and half of the free memory allow.
[[nodiscard]] unsigned side_by_side(const CompileOptions& options, const CompileInput& input);

inline constexpr unsigned kSideBySideMax = 64;

}  // namespace latebind::cli

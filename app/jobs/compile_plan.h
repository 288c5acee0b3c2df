// Plans a compilation: every target in every shape, each once.
#pragma once

#include <vector>

#include "app/client.h"
#include "app/jobs/compile.h"
#include "app/jobs/compile_input.h"
#include "app/jobs/compile_options.h"
#include "app/runtime.h"
#include "core/bundle/compile.h"
#include "core/result.h"

namespace latebind::app {

// Returns kInvalidArgument unless the shapes are one known word or a list of shapes.
[[nodiscard]] core::Status check_shapes(const CompileOptions& options, const Client& client);

// Fills in the report's jobs. Returns the errors of unknown targets (the options are to blame unless a backend could
// not be queried), of targets without a compiler here, and of shapes that do not fit the model. With `keep_going`,
// rejected targets go to the report's `refused` instead.
[[nodiscard]] core::Status plan_compile(const CompileOptions& options, const Runtime& runtime,
                                        const CompileInput& input, const Client& client, CompileReport& report);

// How many variants to compile in parallel: as the options say, or limited by processors and half of the free memory.
[[nodiscard]] unsigned side_by_side(const CompileOptions& options, const CompileInput& input);

}  // namespace latebind::app

// What is compiled: every target in every shape, each once.
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

// kInvalidArgument for anything but a known word or a list of shapes.
[[nodiscard]] core::Status check_shapes(const CompileOptions& options, const Client& client);

// The report's jobs. The errors of unknown targets, for which the options are to blame unless a backend could not be
// asked, of targets without a compiler here, and of shapes that do not fit the model; with `keep_going`, rejected
// targets are in the report's `refused` instead.
[[nodiscard]] core::Status plan_compile(const CompileOptions& options, const Runtime& runtime,
                                        const CompileInput& input, const Client& client, CompileReport& report);

// How many are compiled at once: as the options say, or what processors and half of the free memory allow.
[[nodiscard]] unsigned side_by_side(const CompileOptions& options, const CompileInput& input);

}  // namespace latebind::app

// What is compiled: every target in every shape, each once.
#pragma once

#include <vector>

#include "app/client.h"
#include "app/jobs/compile_input.h"
#include "app/jobs/compile_options.h"
#include "app/runtime.h"
#include "core/bundle/compile.h"
#include "core/result.h"

namespace latebind::app {

// kInvalidArgument for anything but a known word or a list of shapes.
[[nodiscard]] core::Status check_shapes(const CompileOptions& options, const Client& client);

// The errors of unknown targets, of targets without a compiler here, and of shapes that do not fit the model; with
// `keep_going`, rejected targets are in `refused` instead.
[[nodiscard]] core::Result<std::vector<core::CompileJob>> plan_compile(const CompileOptions& options,
                                                                       const Runtime& runtime,
                                                                       const CompileInput& input, const Client& client,
                                                                       std::vector<core::Status>& refused);

// How many are compiled at once: as the options say, or what processors and half of the free memory allow.
[[nodiscard]] unsigned side_by_side(const CompileOptions& options, const CompileInput& input);

}  // namespace latebind::app

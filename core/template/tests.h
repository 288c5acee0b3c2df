// The tests of templates: value is name(arguments).
//
// Source: Jinja's tests. A constant table.
#pragma once

#include <string_view>

#include "core/result.h"
#include "core/template/run.h"

namespace latebind::templates {

// Returns whether the test `name` holds for `value`. Returns kUnsupported for an unknown test, and the test's errors.
[[nodiscard]] core::Result<bool> apply_test(Run& run, std::string_view name, const Value& value,
                                            const Arguments& given);

}  // namespace latebind::templates

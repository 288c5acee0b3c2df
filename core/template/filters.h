// The filters of templates: value | name(arguments).
//
// Source: Jinja's filters, and `tojson` as transformers replaces it. The tables are constant; filters.cpp joins them.
#pragma once

#include <span>
#include <string_view>

#include "core/result.h"
#include "core/template/run.h"

namespace latebind::templates {

// Applies the filter `name` to `value`. Returns kUnsupported for an unknown filter, and the filter's errors.
[[nodiscard]] core::Result<Value> apply_filter(Run& run, std::string_view name, const Value& value,
                                               const Arguments& given);

// The tables of filters by topic.
[[nodiscard]] std::span<const Function> text_filters();
[[nodiscard]] std::span<const Function> value_filters();
[[nodiscard]] std::span<const Function> list_filters();
[[nodiscard]] std::span<const Function> selecting_filters();

}  // namespace latebind::templates

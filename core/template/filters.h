// The filters of templates: value | name(arguments).
//
// Source: Jinja's filters, and `tojson` as transformers replaces it. Constant tables, in filters.cpp the list of all.
#pragma once

#include <span>
#include <string_view>

#include "core/result.h"
#include "core/template/run.h"

namespace latebind::templates {

// Returns kUnsupported for a filter that is not known.
[[nodiscard]] core::Result<Value> apply_filter(Run& run, std::string_view name, const Value& value,
                                               const Arguments& given);

// The parts of the list.
[[nodiscard]] std::span<const Function> text_filters();
[[nodiscard]] std::span<const Function> value_filters();
[[nodiscard]] std::span<const Function> list_filters();
[[nodiscard]] std::span<const Function> selecting_filters();

}  // namespace latebind::templates

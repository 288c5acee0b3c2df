// The operators of expressions, as Python computes them. Pure functions of a run.
#pragma once

#include "core/result.h"
#include "core/template/run.h"
#include "core/template/syntax.h"

namespace latebind::templates {

// a + b, and so on: of numbers, texts and lists.
[[nodiscard]] core::Result<Value> apply(Run& run, Operator operation, const Value& a, const Value& b);
// -number. Returns kUnsupported for an integer beyond 64 bits.
[[nodiscard]] core::Result<Value> negative(const Value& number);
// a == b, a < b, a in b, and so on.
[[nodiscard]] core::Result<bool> compare(Run& run, Operator operation, const Value& a, const Value& b);
// Whether a < b. Returns kInvalidModel for kinds that have no order.
[[nodiscard]] core::Result<bool> is_less(const Value& a, const Value& b);

}  // namespace latebind::templates

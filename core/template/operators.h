// The operators of expressions, with Python's semantics. Call them from the thread of the run.
#pragma once

#include "core/result.h"
#include "core/template/run.h"
#include "core/template/syntax.h"

namespace latebind::templates {

// Returns the result of an arithmetic operator, a + b for example, on numbers, texts or lists. Returns kInvalidModel
// for operands that Python refuses, and kUnsupported for integers beyond 64 bits.
[[nodiscard]] core::Result<Value> apply(Run& run, Operator operation, const Value& a, const Value& b);
// Returns -number. Returns kUnsupported for an integer beyond 64 bits.
[[nodiscard]] core::Result<Value> negative(const Value& number);
// Returns the result of a comparison: a == b, a < b, a in b, and so on.
[[nodiscard]] core::Result<bool> compare(Run& run, Operator operation, const Value& a, const Value& b);
// Returns whether a < b. Returns kInvalidModel for kinds without an order.
[[nodiscard]] core::Result<bool> is_less(Run& run, const Value& a, const Value& b);

}  // namespace latebind::templates

// Reads a tokenizer.json: a model's vocabulary and merges go directly into their lists (json_lists.h), the rest becomes
// a small tree of values.
//
// Nesting and the number of values are limited, and duplicate keys are rejected. Stateless functions, any thread.
#pragma once

#include <string_view>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/tokenizer/json_number.h"
#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding {

struct JsonDocument {
  // An object. The lists are `true` in it: model.vocab if it is an object or an array, and model.merges if it is an
  // array.
  core::Json root;
  ModelLists lists;
};

// Returns kInvalidModel with the mistake in the text and its place. Messages do not name the file. The merges are views
// into the text. `scores` says how the scores of Unigram are rounded.
[[nodiscard]] core::Result<JsonDocument> read_json_document(std::string_view json,
                                                            NumberRounding scores = NumberRounding::kReference);

}  // namespace latebind::embedding

// Parses a tokenizer.json in one pass: a model's vocabulary and merges go directly into their lists, the rest into a
// small tree. Nearly all entries of the lists are plain (plain_json.h) and bypass the parser, which is ten times as
// fast.
//
// Nesting and the number of values are limited, and duplicate keys are rejected. Parts that are not needed (padding,
// truncation) are checked as JSON but not kept. Stateless functions, any thread.
// not kept. Stateless functions, any thread.
#pragma once

#include <string_view>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/tokenizer/json_number.h"
#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding {

struct JsonDocument {
  // An object. Values that were not kept are `true`. These include model.vocab if it is an object or an array, and
  // model.merges if it is an array.
  core::Json root;
  ModelLists lists;
};

// Returns kInvalidModel with the position at which the text is not JSON, or kUnsupported if a limit is exceeded.
// Messages do not name the file. The merges are views into the text. `scores` says how the scores of Unigram are
// rounded.
[[nodiscard]] core::Result<JsonDocument> read_json_document(std::string_view json,
                                                            NumberRounding scores = NumberRounding::kReference);

}  // namespace latebind::embedding

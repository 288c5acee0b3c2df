// A tokenizer.json, parsed in one pass: a model's vocabulary and merges directly into their lists, the rest as a small
// tree. Nearly all entries of the lists are plain (plain_json.h) and pass by the parser, ten times as fast.
//
// Bounded: nesting, number of values, and no key twice. What is not needed (padding, truncation) is checked as JSON and
// not kept. Stateless functions, any thread.
#pragma once

#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "embedding/tokenizer/json_number.h"
#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding {

struct JsonDocument {
  // An object. Values that were not kept are `true`, among them model.vocab, when it is an object or an array, and
  // model.merges, when it is an array.
  nlohmann::json root;
  ModelLists lists;
};

// kInvalidModel with the byte where it stops being JSON, or kUnsupported where a limit is exceeded. Messages do not
// name the file. The merges are views into the text. `scores`: how those of Unigram are rounded.
[[nodiscard]] core::Result<JsonDocument> read_json_document(std::string_view json,
                                                            NumberRounding scores = NumberRounding::kReference);

}  // namespace latebind::embedding

// A tokenizer.json, parsed in one pass: the vocabulary directly into a Vocabulary, the rest as a small tree.
//
// Bounded: nesting, number of values, and no key twice. What is not needed (padding, truncation, the merges of other
// models) is checked as JSON and not kept. Stateless functions, any thread.
#pragma once

#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

struct JsonDocument {
  // An object. Values that were not kept are `true`, among them model.vocab, when it is an object.
  nlohmann::json root;
  // The entries of model.vocab, when it is an object; not finished.
  Vocabulary vocabulary;
};

// kInvalidModel with the byte where it stops being JSON, or kUnsupported where a limit is exceeded. Messages do not
// name the file.
[[nodiscard]] core::Result<JsonDocument> read_json_document(std::string_view json);

}  // namespace latebind::embedding

// Names on a model hub: a model, its revision and its files. Text that is not a valid name never becomes part of a path
// or an address.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::embedding::hub {

// The owner of the embedding models that have a short name.
inline constexpr std::string_view kShortNameOwner = "sentence-transformers";

struct ModelName {
  std::string id;                 // "org/name", or "name" for the few models without an owner
  std::string revision = "main";  // a branch, a tag or a commit

  // Parses ORG/NAME, ORG/NAME@REVISION, or the same without ORG/ for a model of `owner`. Like sentence-transformers, it
  // leaves the names of some models without an owner ("bert-base-uncased"); with an empty `owner`, these are the only
  // short names. kInvalidArgument says which rule is broken.
  static core::Result<ModelName> parse(std::string_view text, std::string_view owner = kShortNameOwner);
  // "org/name", followed by "@revision" unless that is main.
  [[nodiscard]] std::string text() const;
};

// Whether ModelName::parse() accepts the text, to distinguish names from paths. A word with the ending of a file, as in
// "model.onnx" and "models/model.onnx", is a path.
[[nodiscard]] bool is_model_name(std::string_view text, std::string_view owner = kShortNameOwner);

// Whether it is 40 or 64 lower-case hexadecimal digits: a revision that never changes.
[[nodiscard]] bool is_commit(std::string_view text);

// Whether it is a relative path with '/' that stays below its folder, has no part with an unusual beginning or end, and
// means the same on every system.
[[nodiscard]] bool is_file_name(std::string_view text);

// Whether it is a valid name of a blob: up to 128 letters, digits, '.', '_' and '-', not beginning with '.'.
[[nodiscard]] bool is_blob_name(std::string_view text);

// Encodes every byte that has a meaning in an address, including '/', as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace latebind::embedding::hub

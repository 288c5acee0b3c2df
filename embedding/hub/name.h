// Names on a model hub: which model, of which revision, and which of its files. What is not a name never becomes a path
// or a part of an address.
//
// Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace latebind::embedding::hub {

// The owner of the embedding models that have a short name.
inline constexpr std::string_view kShortNameOwner = "sentence-transformers";

struct ModelName {
  std::string id;                 // "org/name"; "name" of the few models without an owner
  std::string revision = "main";  // a branch, a tag or a commit

  // ORG/NAME, ORG/NAME@REVISION, or the same without ORG/ for a model of `owner`: as sentence-transformers completes
  // names, which knows some models without an owner ("bert-base-uncased"). With an empty owner these are the only short
  // names. kInvalidArgument says which rule is broken.
  static core::Result<ModelName> parse(std::string_view text, std::string_view owner = kShortNameOwner);
  // "org/name", with "@revision" when that is not main.
  [[nodiscard]] std::string text() const;
};

// True for what ModelName::parse() takes: for telling a name from a path. A word with the ending of a file, as in
// "model.onnx" and "models/model.onnx", is a path.
[[nodiscard]] bool is_model_name(std::string_view text, std::string_view owner = kShortNameOwner);

// True for 40 or 64 lower-case hexadecimal digits: a revision that never changes.
[[nodiscard]] bool is_commit(std::string_view text);

// True for a relative path with '/' that stays below its folder, has no part with an unusual beginning or end, and
// means the same on every system.
[[nodiscard]] bool is_file_name(std::string_view text);

// True for a valid name of a blob: letters, digits, '.', '_' and '-', up to 128 of them, not beginning with '.'.
[[nodiscard]] bool is_blob_name(std::string_view text);

// Every byte that has a meaning in an address, '/' included, as %XX.
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace latebind::embedding::hub

// Keeps output apart from input: no command overwrites what it reads.
//
// Output appears by rename, so that what is being read stays whole until then; but it would be gone afterwards. Any
// thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::app {

// A place in UTF-8, and the client's name for it: "-o", "--model", "FILE".
struct NamedPlace {
  std::string_view name;
  std::string place;
};

// kInvalidArgument when the output is a file of the model: the model itself, an IR's weights, what an ONNX file may
// keep its data in, or anything in a model's folder. Ok for a model that does not exist, such as a name on the hub.
// Reads files, changes none.
[[nodiscard]] core::Status check_apart(const NamedPlace& output, const NamedPlace& model);

// The same, for one file that may be new in the model's folder.
[[nodiscard]] core::Status check_file_apart(const NamedPlace& output, const NamedPlace& model);

// kInvalidArgument when the output is the very file that is read. Pipes and devices do not count.
[[nodiscard]] core::Status check_apart_from_file(const NamedPlace& output, const NamedPlace& file);

// False when one of them does not exist.
[[nodiscard]] bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace latebind::app

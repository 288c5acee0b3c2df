// Checks that no command overwrites the files that it reads.
//
// An output appears by an atomic rename, so its input stays intact while it is being read, but would be lost
// afterwards. Any thread may call these functions.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/status.h"

namespace latebind::app {

// A path in UTF-8 and the client's name for it: "-o", "--model", "FILE".
struct NamedPlace {
  std::string_view name;
  std::string place;
};

// Returns kInvalidArgument if `output` is a file of the model: the model itself, the weights of an OpenVINO IR, a file
// that may hold an ONNX model's external data, or anything inside a model folder. Returns ok if the model does not
// exist, as for a name on the hub. Reads files and changes none.
[[nodiscard]] core::Status check_apart(const NamedPlace& output, const NamedPlace& model);

// Like check_apart(), but accepts a new file in the model's folder.
[[nodiscard]] core::Status check_file_apart(const NamedPlace& output, const NamedPlace& model);

// Returns kInvalidArgument if both are the same file. Pipes and devices are accepted.
[[nodiscard]] core::Status check_apart_from_file(const NamedPlace& output, const NamedPlace& file);

// Returns false if either file does not exist.
[[nodiscard]] bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace latebind::app

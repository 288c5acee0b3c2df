// CompileKey: everything that determines the result of a compilation, as one text. Two keys are equal only if their
// results are interchangeable. A field that does not matter may cost a compilation, but never gives a wrong result.
#pragma once

#include <string>
#include <string_view>

#include "core/backend/device.h"
#include "core/backend/executable.h"

namespace latebind::core {

struct CompileKey {
  std::string text;    // JSON
  std::string digest;  // SHA-256 of the text, 64 hexadecimal digits: the name of the entry
  // For people.
  std::string model;
  std::string device;  // "openvino:CPU"
  std::string runtime_version;
  Precision precision = Precision::kF32;
};

// Makes the key. `model_digest` is Model::digest(); `device` is as the backend listed it, metadata included.
[[nodiscard]] CompileKey make_compile_key(std::string_view model_digest, std::string_view model_name,
                                          const Device& device, const CompileOptions& options);

}  // namespace latebind::core

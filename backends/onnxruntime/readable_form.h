// ReadableForm: a model in memory as the vendor reads it, with the files of external data that it names. From memory
// the vendor copies such data, more than once, and takes no tensor of 2 GiB; files it maps.
//
// Pure but for the file system. Any thread.
#pragma once

#include <filesystem>
#include <string>

#include "backends/onnxruntime/load.h"
#include "core/model/onnx_form.h"
#include "core/result.h"

namespace latebind::onnxruntime {

struct ReadableForm {
  core::ModelForm form;
  // The folder from which the vendor opens the files of external data by their names in the model. Empty: it gets their
  // bytes.
  std::filesystem::path folder;
};

// Finds a folder from which the vendor can open the files of external data: under the model's names for them or, as
// with the links of the hub's cache and in a bundle's ZIP, under the real names, which replace those in the model.
[[nodiscard]] core::Result<ReadableForm> make_readable(core::ModelForm form);

// Compares files that the vendor has opened by name with those that were opened before; kIo if one was replaced.
[[nodiscard]] core::Status check_external_data(const std::string& model, const ReadableForm& readable);

enum class Paths { kFull, kFromHere };

// Gives the session's options the folder or the bytes of the external data.
[[nodiscard]] core::Status add_external_data(const Library& library, const ReadableForm& readable,
                                             abi::SessionOptions* options, Paths paths_are = Paths::kFull);

// Returns `place` relative to the current folder, or unchanged if no relative path leads to it.
[[nodiscard]] std::filesystem::path from_here(const std::filesystem::path& place);

}  // namespace latebind::onnxruntime

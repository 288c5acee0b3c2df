// The data that an ONNX model has in other files, and the file beside an OpenVINO IR. For the files of Model.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "core/graph/onnx_structure.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

// The weights of an OpenVINO IR.
[[nodiscard]] inline std::filesystem::path bin_beside(const std::filesystem::path& xml) {
  auto bin = xml;
  return bin.replace_extension(".bin");
}

// kInvalidModel if the names are incomplete, or if one would be taken for an address.
[[nodiscard]] Status check_locations(const graph::ExternalLocations& named);

// A graph in memory must have all of its data in memory, because a vendor would look for the rest in the working
// folder.
[[nodiscard]] Status check_external(const ModelForm& form);

// Vendors find a file's external data only if it lies below the file's folder after all links are followed, both for
// the name of the file and for the file that it links to. If it does not, this returns a form that has the data by
// name, provided that all names stay within the folder (vendors refuse others) and all files exist.
[[nodiscard]] Result<std::optional<ModelForm>> form_with_linked_data(const std::filesystem::path& file,
                                                                     const FilePart& part,
                                                                     const std::set<std::string>& locations);

}  // namespace latebind::core

// A model's folder with a published configuration and random weights: exactly those tensors that the network asks for.
//
// For one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/result.h"
#include "embedding/folder/model_folder.h"

namespace latebind::embedding::testing {

class MadeFolder {
 public:
  // Writes the files of an entry of tests/data/published/, without weights.
  MadeFolder(const nlohmann::json& entry, std::filesystem::path place);

  // Opens the folder and builds the networks of all its routes; adds each tensor that is missing, and opens the folder
  // again. Returns the first error that no tensor mends.
  [[nodiscard]] core::Result<ModelFolder> open();

 private:
  using Tensors = std::map<std::string, std::vector<std::int64_t>>;

  void write_modules(const nlohmann::json& modules);
  void write_module(const std::string& type, const std::string& folder, const nlohmann::json& config);
  // Returns whether the message named a tensor, which the folder now has.
  [[nodiscard]] bool add_missing(const std::string& message);
  void write_weights(const std::string& file) const;

  std::filesystem::path place_;
  bool grows_ = true;
  std::map<std::string, Tensors> weights_;  // by the file's path in the folder
};

}  // namespace latebind::embedding::testing

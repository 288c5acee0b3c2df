// Generates the configuration files that a GGUF model would have in a folder from the hub, config.json and the modules,
// from the file's metadata. Networks and outputs read them like any others.
//
// Source: the keys that llama.cpp's converter writes. Pure functions; any thread may call them.
#pragma once

#include <map>
#include <string>

#include "core/result.h"
#include "embedding/weights/gguf/header.h"

namespace latebind::embedding {

// The content of files, by their path below the model's folder.
using DescribedFiles = std::map<std::string, std::string, std::less<>>;

struct GgufNetwork {
  DescribedFiles files{};
  std::string assumed{};  // see GgufModel::assumed()
  bool is_decoder = false;
};

// Returns kInvalidModel or kUnsupported, naming the key or the tensor. Unknown keys and tensors are refused, because
// they might change the results.
[[nodiscard]] core::Result<GgufNetwork> describe_gguf_network(const GgufHeader& header);

}  // namespace latebind::embedding

// The configurations that a model in GGUF would have in a folder from the hub: config.json and the modules, made from
// the file's metadata. Networks and outputs read these like any other, and know nothing of GGUF.
//
// Source: the keys that llama.cpp's converter writes. Pure functions; any thread.
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
  std::string assumed{};  // one line for people: what the file does not say
  bool is_decoder = false;
};

// Returns kInvalidModel and kUnsupported, naming the key or the tensor. Keys and tensors that are unknown are refused,
// because they might change the results.
[[nodiscard]] core::Result<GgufNetwork> describe_gguf_network(const GgufHeader& header);

}  // namespace latebind::embedding

// NetworkSpec: what computes a model's numbers, by its files: a network with its weights, a ready ONNX file, or a
// table.
//
// A value; immutable in use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "embedding/architectures/architecture.h"
#include "embedding/folder/modules.h"
#include "embedding/term_table.h"

namespace latebind::embedding {

// What a network has on top of its encoder.
using NetworkHead = std::variant<std::monostate, ClassifierHead, VocabularyHead>;

struct NetworkSpec {
  // The network, where config.json describes one of a known architecture; else null.
  std::shared_ptr<const Network> network = nullptr;
  NetworkHead head{};
  std::size_t hidden_size = 0;         // of a token's vector; 0 where no file gives it
  std::vector<WeightsFile> weights{};  // where `network` can be made from them; the network's own come first
  std::optional<std::filesystem::path> onnx_file = std::nullopt;  // as requested, onnx/model.onnx or model.onnx
  // A table of vectors or weights: texts have no special tokens.
  bool is_static = false;
  // A table of term weights instead of a network, and its file.
  std::shared_ptr<const TermTable> term_table = nullptr;
  std::optional<std::filesystem::path> term_table_file = std::nullopt;
};

}  // namespace latebind::embedding

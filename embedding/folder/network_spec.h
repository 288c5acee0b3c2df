// NetworkSpec: the files that a model's numbers come from. They are a network with its weights, a ready ONNX file, or a
// table.
//
// A value; immutable in use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "embedding/architectures/architecture.h"
#include "embedding/folder/find_adapters.h"
#include "embedding/folder/modules.h"
#include "embedding/tables/term_table.h"

namespace latebind::embedding {

// The head on top of a network's encoder; std::monostate for no head.
using NetworkHead = std::variant<std::monostate, ClassifierHead, VocabularyHead, TokenHead>;

struct NetworkSpec {
  // The network, if config.json describes one of a known architecture; else null.
  std::shared_ptr<const Network> network = nullptr;
  NetworkHead head{};
  std::string_view pooler{};           // Architecture::pooler
  std::size_t hidden_size = 0;         // the dimension of a token's vector; 0 if no file declares it
  std::vector<WeightsFile> weights{};  // if `network` can be made from them; those of the network come first
  // The adapter that is merged into the weights, and the adapters of tasks.
  std::optional<AdapterSpec> adapter = std::nullopt;
  std::vector<TaskAdapter> tasks{};
  std::optional<std::filesystem::path> onnx_file = std::nullopt;  // the requested file, onnx/model.onnx or model.onnx
  // The model is a table of vectors or weights, and texts get no special tokens.
  bool is_static = false;
  // Its tokens are words of a list (embedding/tokenizer/word_list.h).
  bool has_words = false;
  // A table of term weights that replaces the network, and its file.
  std::shared_ptr<const TermTable> term_table = nullptr;
  std::optional<std::filesystem::path> term_table_file = std::nullopt;
};

}  // namespace latebind::embedding

// Fuzzes the files of a model folder: config.json, modules.json, the pooling's and the tokenizer's settings, and a
// router's, separated by NUL bytes in this order. An empty part is a file that is not there.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "core/text/pieces.h"
#include "embedding/folder/model_folder.h"
#include "fuzz/own_folder.h"

namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles{"config.json",           "modules.json",
                            "1_Pooling/config.json", "sentence_bert_config.json",
                            "tokenizer_config.json", "config_sentence_transformers.json",
                            "router_config.json"};

void require(bool holds) {
  if (!holds) std::abort();
}

// The folder, with what every model needs besides the fuzzed files.
const fs::path& folder() {
  static const bool is_filled = [] {
    fs::create_directory(own_folder() / "1_Pooling");
    std::ofstream(own_folder() / "tokenizer.json") << "{}";
    std::ofstream(own_folder() / "model.safetensors") << "-";
    return true;
  }();
  require(is_filled);
  return own_folder();
}

// Those that are there already stay: most runs change one of them.
void put(std::size_t which, std::string_view content) {
  static std::array<std::optional<std::string>, kFiles.size()> there;
  std::optional<std::string>& before = there[which];
  if (content.empty()) {
    if (before) require(fs::remove(folder() / kFiles[which]));
    before.reset();
    return;
  }
  if (before == content) return;
  std::ofstream(folder() / kFiles[which], std::ios::binary) << content;
  before = content;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (std::size_t i = 0; i < kFiles.size(); ++i)
    put(i, latebind::core::take_until(rest, '\0'));

  const auto model = latebind::embedding::ModelFolder::open(folder());
  if (!model.ok()) {
    require(model.status().to_string().find('\n') == std::string::npos);
    return 0;
  }
  // Whatever the files say, nothing outside of the folder is used, and sizes are bounded.
  const std::string inside = folder().string() + "/";
  for (const auto* route : {&model->documents(), model->queries()}) {
    if (route == nullptr) continue;
    require(route->input.tokenizer_file.lexically_normal().string().starts_with(inside));
    for (const latebind::embedding::WeightsFile& weights : route->network.weights)
      require(weights.file.lexically_normal().string().starts_with(inside));
    static_cast<void>(route->describe());
  }
  const auto& [input, network] = std::tie(model->documents().input, model->documents().network);
  require(!network.weights.empty());
  require(input.max_tokens >= 2 && input.max_tokens <= (std::size_t{1} << 17));
  require(network.network && network.hidden_size <= latebind::embedding::kHiddenSizeMax);
  require(input.max_tokens <= network.network->tokens_max());
  return 0;
}

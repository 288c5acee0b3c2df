#include "tests/published/made_folder.h"

#include <cmath>
#include <random>
#include <regex>
#include <set>
#include <utility>

#include "embedding/build_model.h"
#include "tests/embedding/support.h"

namespace latebind::embedding::testing {

using nlohmann::json;
using std::filesystem::path;

namespace {

// More than any of the small networks has.
constexpr int kTensorsMax = 1000;
constexpr const char* kWeights = "model.safetensors";

const std::set<std::string> kWithWeights{"Dense", "LayerNorm", "SparseAutoEncoder"};

// "Pooling" is that module of sentence-transformers, a name with dots is the whole type.
std::string type_of(const std::string& module) {
  return module.find('.') == std::string::npos ? "sentence_transformers.models." + module : module;
}

std::string last_word(const std::string& type) {
  return type.substr(type.rfind('.') + 1);
}

}  // namespace

MadeFolder::MadeFolder(const json& entry, std::filesystem::path place)
    : place_(std::move(place)), grows_(entry.value("grows", true)) {
  std::set<std::string> tokenizers{""};
  weights_[kWeights];
  if (entry.contains("modules")) {
    weights_.clear();
    tokenizers.clear();
    write_modules(entry["modules"]);
    const json& first = entry["modules"].front();
    const std::string folder = first.is_object() ? first.value("path", "") : "";
    tokenizers.insert(folder);
    weights_[(folder.empty() ? folder : folder + "/") + kWeights];
  }
  if (entry.contains("config")) write_file(place_ / "config.json", entry["config"].dump());
  const json files = entry.value("files", json::object());
  for (const auto& [name, content] : files.items())
    write_file(place_ / name, content.is_string() ? content.get<std::string>() : content.dump());
  const json given = entry.value("tensors", json::object());
  for (const auto& [file, tensors] : given.items()) {
    tokenizers.insert(std::filesystem::path(file).parent_path().string());
    for (const auto& [name, shape] : tensors.items())
      weights_[file][name] = shape.get<std::vector<std::int64_t>>();
  }
  const std::string tokenizer = read_file(tiny_bert("f32") / "tokenizer.json");
  const bool has_tokenizer = !entry.contains("without") || entry["without"] != json({"tokenizer.json"});
  for (const std::string& folder : tokenizers) {
    if (!has_tokenizer) continue;
    write_file(place_ / folder / "tokenizer.json", tokenizer);
    // The small tokenizer takes the place of any published one.
    const path config = place_ / folder / "tokenizer_config.json";
    if (!exists(config))
      write_file(config, R"({"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": "[MASK]"})");
  }
  for (const auto& one : weights_)
    write_weights(one.first);
}

void MadeFolder::write_modules(const json& modules) {
  json list = json::array();
  for (const json& module : modules) {
    const std::string name = module.is_string() ? module.get<std::string>() : module.begin().key();
    const json config = module.is_string() ? json() : module.begin().value();
    const std::size_t number = list.size();
    std::string folder = number == 0 ? "" : std::to_string(number) + "_" + last_word(name);
    if (module.is_object() && module.contains("path")) folder = module["path"];
    list.push_back({{"idx", number}, {"name", std::to_string(number)}, {"path", folder}, {"type", type_of(name)}});
    write_module(name, folder, config);
  }
  write_file(place_ / "modules.json", list.dump());
}

void MadeFolder::write_module(const std::string& type, const std::string& folder, const json& config) {
  if (!config.is_null()) write_file(place_ / folder / "config.json", config.dump());
  if (kWithWeights.contains(last_word(type))) weights_[folder + "/" + kWeights];
}

core::Result<ModelFolder> MadeFolder::open() {
  for (int i = 0; i < kTensorsMax; ++i) {
    auto folder = ModelFolder::open(place_);
    core::Status status = folder.status();
    if (folder.ok()) {
      for (const Specification* model : {&folder->documents(), folder->queries()}) {
        if (status.ok() && model != nullptr && model->network.term_table == nullptr)
          status = build_model(*model).status();
      }
    }
    if (status.ok()) return folder;
    if (!grows_ || !add_missing(status.to_string())) return status;
  }
  return core::Status(core::StatusCode::kInternal, "the network asks for ever more tensors");
}

bool MadeFolder::add_missing(const std::string& message) {
  static const std::regex missing("(\\S+): no tensor '([^']+)'");
  static const std::regex shaped(
      "(\\S+): tensor '([^']+)' has the shape \\[[0-9,]*\\], config.json asks for \\[([0-9,]*)\\]");
  std::smatch found;
  std::vector<std::int64_t> shape{1};
  if (std::regex_search(message, found, shaped)) {
    shape = json::parse("[" + found[3].str() + "]").get<std::vector<std::int64_t>>();
  } else if (!std::regex_search(message, found, missing)) {
    return false;
  }
  const std::string file = std::filesystem::path(found[1].str()).lexically_relative(place_).generic_string();
  if (!weights_.contains(file)) return false;
  weights_[file][found[2].str()] = shape;
  write_weights(file);
  return true;
}

void MadeFolder::write_weights(const std::string& file) const {
  std::mt19937 bits(45);
  std::uniform_real_distribution<float> any(-0.3F, 0.3F);
  json header = json::object();
  std::string data;
  for (const auto& [name, shape] : weights_.at(file)) {
    std::size_t count = 1;
    for (const std::int64_t dim : shape)
      count *= static_cast<std::size_t>(dim);
    const std::size_t begin = data.size();
    for (std::size_t i = 0; i < count; ++i) {
      // A table's weights are positive, and so are those of a trained norm.
      const float number = shape.size() == 1 ? std::abs(any(bits)) : any(bits);
      data.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
  }
  write_file(place_ / file, safetensors(header.dump(), 0) + data);
}

}  // namespace latebind::embedding::testing

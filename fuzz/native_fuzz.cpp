// Fuzzes the way from a model's files to its vectors without a vendor: config.json and safetensors become a graph,
// which every instruction set of this machine computes. Input: the length of config.json (2 bytes, little endian),
// that, and the rest is model.safetensors.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/native/backend.h"
#include "backends/native/kernels/kernels.h"
#include "core/json/read.h"
#include "embedding/architectures/architecture.h"
#include "embedding/weights/safetensors.h"

namespace {

using latebind::core::ElementType;
using latebind::core::Precision;
using latebind::core::Shape;

constexpr std::array<std::int64_t, 8> kIds{1, 2, 3, 0, 2, 0, 0, 0};
constexpr std::array<std::int64_t, 8> kMask{1, 1, 1, 1, 1, 0, 0, 0};

void require(bool holds) {
  if (!holds) std::abort();
}

// Its vectors on that set; none where it is refused.
std::vector<float> vectors_on(std::string_view isa, Precision precision, const latebind::core::Model& model) {
  const auto backend = latebind::native::configured_backend({{"native.isa", std::string(isa)}});
  const auto loaded = backend->load(model, "CPU", {.precision = precision, .threads = 2});
  if (!loaded.ok()) return {};
  auto ids = kIds;
  auto mask = kMask;
  const std::array inputs{latebind::core::TensorView{ids.data(), ElementType::kI64, Shape{2, 4}, std::nullopt},
                          latebind::core::TensorView{mask.data(), ElementType::kI64, Shape{2, 4}, std::nullopt}};
  latebind::core::OutputTensor output;
  if (!(*loaded)->execute(inputs, {&output, 1}, {}).ok()) return {};
  const auto* const data = static_cast<const float*>(output.view().data);
  return {data, data + *output.view().shape.element_count()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t length = data[0] + 256U * data[1];
  if (length > size - 2) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 2, length);
  const auto json = latebind::core::parse_json(text, "config.json");
  if (!json.ok()) return 0;
  if (!json->is_object() || !json->contains("model_type") || !(*json)["model_type"].is_string()) return 0;
  const auto* const architecture = latebind::embedding::find_architecture((*json)["model_type"].text());
  if (architecture == nullptr) return 0;
  const auto network = architecture->read(*json, "config.json");
  if (!network.ok()) return 0;
  latebind::core::FilePart part;
  part.where.size = size - 2 - length;
  part.bytes = latebind::core::SharedBytes::from_string(
      std::string(reinterpret_cast<const char*>(data) + 2 + length, size - 2 - length));
  auto weights = latebind::embedding::Safetensors::from_part(std::move(part), "model.safetensors");
  if (!weights.ok()) return 0;
  auto graph = (*network)->make_graph(latebind::embedding::ModelWeights(*weights), {.ends = {{.normalize = true}}});
  if (!graph.ok()) return 0;
  const auto model = latebind::core::Model::from_graph(
      "fuzz", {.graph = std::make_shared<const latebind::graph::Graph>(*std::move(graph))});
  std::vector<float> first;
  for (const auto* const set : latebind::native::all_kernels()) {
    if (!latebind::native::can_run(*set)) continue;
    for (const auto& [precision, product] :
         {std::pair{Precision::kF32, set->f32}, std::pair{Precision::kBF16, set->bf16},
          std::pair{Precision::kF16, set->f16}, std::pair{Precision::kInt8, set->int8}}) {
      if (!product.is_there()) continue;
      const auto vectors = vectors_on(set->name, precision, model);
      if (first.empty()) first = vectors;
      // The same texts are taken by all; numbers may differ where weights are absurd.
      require(first.size() == vectors.size());
    }
  }
  return 0;
}

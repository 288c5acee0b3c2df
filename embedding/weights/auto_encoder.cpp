#include "embedding/weights/auto_encoder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "embedding/weights/floats_of.h"
#include "embedding/weights/made_tensors.h"

namespace latebind::embedding {
namespace {

using core::Result;

// Encoder and decoder share the matrix, and a safetensors file has it under one of the two names.
constexpr std::string_view kTiedMatrix = "decoder.linear.weight";

Result<std::vector<float>> numbers_of(const TensorFile& weights, std::string_view name,
                                      std::span<const std::int64_t> shape) {
  LB_ASSIGN_OR_RETURN(const StoredTensor tensor, weights.find(name, shape));
  return floats_of(tensor);
}

}  // namespace

Result<TensorFile> linear_of_auto_encoder(const TensorFile& weights) {
  // A file without the matrix is refused by find().
  const std::string_view name = weights.contains(kTiedMatrix) ? kTiedMatrix : "encoder.weight";
  const auto shape = weights.shape_of(name).value_or(std::vector<std::int64_t>{0, 0});
  if (shape.size() != 2) {
    return core::Status(core::StatusCode::kInvalidModel,
                        fmt::format("{} has the shape [{}], a matrix was expected",
                                    place_of_tensor(weights.name(), name), fmt::join(shape, ",")));
  }
  LB_ASSIGN_OR_RETURN(const auto matrix, numbers_of(weights, name, shape));
  LB_ASSIGN_OR_RETURN(const auto before, numbers_of(weights, "pre_bias", {&shape[1], 1}));
  LB_ASSIGN_OR_RETURN(auto bias, numbers_of(weights, "latent_bias", {&shape[0], 1}));
  for (std::size_t row = 0; row < bias.size(); ++row) {
    double sum = bias[row];
    for (std::size_t i = 0; i < before.size(); ++i)
      sum -= static_cast<double>(matrix[row * before.size() + i]) * static_cast<double>(before[i]);
    bias[row] = static_cast<float>(sum);
  }
  const std::vector<MadeTensors::Wanted> wanted{{.name = "linear.weight", .shape = shape},
                                                {.name = "linear.bias", .shape = {shape[0]}}};
  LB_ASSIGN_OR_RETURN(MadeTensors made, MadeTensors::of(weights.name(), wanted));
  write_floats(matrix, core::ElementType::kF32, made.to_write("linear.weight").data());
  write_floats(bias, core::ElementType::kF32, made.to_write("linear.bias").data());
  return TensorFile(std::move(made));
}

}  // namespace latebind::embedding

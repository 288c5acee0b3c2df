#include "kit/networks/encoder_shape.h"

namespace latebind::kit {
namespace {

// Draws numbers from 1 up to a largest one.
class Draw {
 public:
  explicit Draw(std::mt19937& chance) : chance_(chance) {}
  int operator()(int most) { return std::uniform_int_distribution<int>(1, most)(chance_); }

 private:
  std::mt19937& chance_;
};

}  // namespace

EncoderShape draw_shape(std::mt19937& chance) {
  Draw up_to(chance);
  EncoderShape shape;
  shape.heads = up_to(4);
  shape.hidden = shape.heads * up_to(20);
  shape.intermediate = up_to(70);
  shape.layers = up_to(2);
  constexpr core::ElementType kTypes[] = {core::ElementType::kF32, core::ElementType::kF16, core::ElementType::kBF16};
  shape.weights = kTypes[up_to(3) - 1];
  shape.activation = static_cast<graph::ActivationFunction>(up_to(5) - 1);
  shape.pooling = static_cast<graph::PoolingMode>(up_to(6) - 1);
  shape.pooled = up_to(4) > 1;
  shape.normalize = up_to(2) > 1;
  if (up_to(3) == 1) shape.padding = up_to(4) - 1;
  shape.rotary = up_to(3) == 1;
  if (shape.rotary) shape.hidden *= 2;  // heads need an even width
  if (up_to(3) == 1) shape.window = up_to(12) - 1;
  shape.gated = up_to(3) == 1;
  if (up_to(3) == 1) {
    shape.buckets = 4 * up_to(8);
    shape.farthest = shape.buckets / 4 + up_to(40);
  }
  if (up_to(3) == 1) {
    const std::int64_t head = shape.hidden / shape.heads;
    shape.key_heads = up_to(2);
    shape.heads = *shape.key_heads * up_to(3);
    shape.hidden = head * shape.heads;
  }
  shape.causal = up_to(3) == 1;
  shape.rms = up_to(3) == 1;
  if (up_to(3) == 1) shape.dense = up_to(50);
  return shape;
}

void draw_biases_and_experts(std::mt19937& chance, EncoderShape& shape) {
  Draw up_to(chance);
  shape.linear_bias = up_to(3) == 1;
  if (up_to(3) == 1) shape.rotary_factor = 1.25F;
  if (up_to(3) == 1) shape.soft_cap = 0.25F * static_cast<float>(up_to(20));
  if (up_to(3) == 1) shape.short_convolution = up_to(5);
  if (up_to(3) == 1) {
    shape.experts = up_to(6);
    shape.chosen = up_to(static_cast<int>(shape.experts));
  }
}

void draw_convolution_and_disentangled(std::mt19937& chance, EncoderShape& shape) {
  Draw up_to(chance);
  if (up_to(3) == 1) shape.kernel = 2 * up_to(3) - 1;
  const bool has_equal_heads = shape.key_heads.value_or(shape.heads) == shape.heads;
  shape.joint = up_to(3) == 1 && has_equal_heads;
  if (up_to(2) == 1 || !has_equal_heads) return;
  shape.buckets = 0;
  shape.linear_bias = false;
  shape.rotary = false;
  shape.span = 4 * up_to(5);
  if (up_to(2) == 1) shape.span_farthest = shape.span / 2 + 1 + up_to(20);
  shape.has_place_keys = up_to(3) > 1;
  shape.has_place_queries = !shape.has_place_keys || up_to(2) == 1;
  shape.places_are_normal = up_to(2) == 1;
}

}  // namespace latebind::kit

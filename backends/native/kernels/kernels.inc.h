// The kernels that treat each row separately, written once for every instruction set (see products.inc.h). Defines
// make_kernels(), in an unnamed namespace.
#include "backends/native/kernels/products.inc.h"

HWY_BEFORE_NAMESPACE();
namespace latebind::native {
namespace {

void add(const MutableRows& x, const Rows& y, std::size_t width) {
  for (std::size_t r = 0; r < x.count; ++r) {
    const float* const from = y.data + r * y.stride;
    for_each_vector(x.data + r * x.stride, width, 0.0F,
                    [&](std::size_t i, Vector value) { return hn::Add(value, load_part(from, i, width)); });
  }
}

void multiply_rows(const MutableRows& x, const Rows& y, std::size_t width) {
  for (std::size_t r = 0; r < x.count; ++r) {
    const float* const from = y.data + r * y.stride;
    for_each_vector(x.data + r * x.stride, width, 0.0F,
                    [&](std::size_t i, Vector value) { return hn::Mul(value, load_part(from, i, width)); });
  }
}

void scale(const MutableRows& x, std::size_t width, float factor) {
  for (std::size_t r = 0; r < x.count; ++r) {
    for_each_vector(x.data + r * x.stride, width, 0.0F,
                    [&](std::size_t, Vector value) { return hn::Mul(value, hn::Set(kTag, factor)); });
  }
}

void rope(const MutableRows& x, std::size_t heads, std::size_t width, const float* cosines, const float* sines,
          const std::uint32_t* positions) {
  const std::size_t half = width / 2;
  for (std::size_t r = 0; r < x.count; ++r) {
    const float* const cosine_row = cosines + positions[r] * half;
    const float* const sine_row = sines + positions[r] * half;
    for (std::size_t head = 0; head < heads; ++head) {
      float* const first = x.data + r * x.stride + head * width;
      float* const second = first + half;
      std::size_t i = 0;
      for (; i + kLanes <= half; i += kLanes) {
        const Vector a = hn::LoadU(kTag, first + i);
        const Vector b = hn::LoadU(kTag, second + i);
        const Vector cosine = hn::LoadU(kTag, cosine_row + i);
        const Vector sine = hn::LoadU(kTag, sine_row + i);
        hn::StoreU(hn::NegMulAdd(b, sine, hn::Mul(a, cosine)), kTag, first + i);
        hn::StoreU(hn::MulAdd(a, sine, hn::Mul(b, cosine)), kTag, second + i);
      }
      for (; i < half; ++i) {
        const float a = first[i];
        const float b = second[i];
        first[i] = a * cosine_row[i] - b * sine_row[i];
        second[i] = b * cosine_row[i] + a * sine_row[i];
      }
    }
  }
}

// erf(x / √2) / 2 as a rational function on |x| ≤ 5.9; beyond that it is ±1/2 in f32. fit_erf.py 5 5 made the
// coefficients.
LATEBIND_INLINE Vector half_erf(Vector x) {
  constexpr float kEnd = 5.9F;
  constexpr float kNumerator[] = {2.060825111e-08F, 6.325447430e-06F, 1.848641550e-04F,
                                  4.775172565e-03F, 3.557249531e-02F, 3.989422619e-01F};
  constexpr float kDenominator[] = {1.132496891e-06F, 7.802734763e-05F, 1.977130538e-03F,
                                    2.961007692e-02F, 2.558330297e-01F, 1.0F};
  x = hn::Min(hn::Max(x, hn::Set(kTag, -kEnd)), hn::Set(kTag, kEnd));
  const Vector square = hn::Mul(x, x);
  Vector numerator = hn::Set(kTag, kNumerator[0]);
  LATEBIND_UNROLL
  for (std::size_t i = 1; i < sizeof(kNumerator) / sizeof(float); ++i)
    numerator = hn::MulAdd(numerator, square, hn::Set(kTag, kNumerator[i]));
  Vector denominator = hn::Set(kTag, kDenominator[0]);
  LATEBIND_UNROLL
  for (std::size_t i = 1; i < sizeof(kDenominator) / sizeof(float); ++i)
    denominator = hn::MulAdd(denominator, square, hn::Set(kTag, kDenominator[i]));
  return hn::Mul(x, hn::Div(numerator, denominator));
}

// value / (1 + exp(minus)). If exp(minus) overflows, the result is 0, or NaN when the value is NaN or infinite.
LATEBIND_INLINE Vector gated(Vector value, Vector minus) {
  const Vector most = hn::Set(kTag, 80.0F);  // Exp is not accurate far beyond this
  const Vector found = hn::Div(value, hn::Add(hn::Set(kTag, 1.0F), hn::Exp(kTag, hn::Min(minus, most))));
  return hn::IfThenElse(hn::Gt(minus, most), hn::Mul(value, hn::Zero(kTag)), found);
}

void activate(graph::ActivationFunction function, const MutableRows& x, std::size_t width) {
  for (std::size_t r = 0; r < x.count; ++r) {
    float* const row = x.data + r * x.stride;
    switch (function) {
      case graph::ActivationFunction::kRelu:
        // Max(value, 0) would turn NaN into 0.
        for_each_vector(row, width, 0.0F, [](std::size_t, Vector value) {
          return hn::IfThenZeroElse(hn::Lt(value, hn::Zero(kTag)), value);
        });
        break;
      case graph::ActivationFunction::kSilu:
        for_each_vector(row, width, 0.0F, [](std::size_t, Vector value) { return gated(value, hn::Neg(value)); });
        break;
      case graph::ActivationFunction::kTanh:
        // 2 / (1 + exp(-2x)) - 1
        for_each_vector(row, width, 0.0F, [](std::size_t, Vector value) {
          const Vector bounded = hn::Min(hn::Mul(value, hn::Set(kTag, -2.0F)), hn::Set(kTag, 80.0F));
          const Vector one = hn::Set(kTag, 1.0F);
          const Vector found = hn::Sub(hn::Div(hn::Set(kTag, 2.0F), hn::Add(one, hn::Exp(kTag, bounded))), one);
          return hn::IfThenElse(hn::IsNaN(value), value, found);
        });
        break;
      case graph::ActivationFunction::kGeluErf:
        for_each_vector(row, width, 0.0F, [](std::size_t, Vector value) {
          return hn::MulAdd(value, half_erf(value), hn::Mul(value, hn::Set(kTag, 0.5F)));
        });
        break;
      case graph::ActivationFunction::kGeluTanh:
        // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u))
        for_each_vector(row, width, 0.0F, [](std::size_t, Vector value) {
          constexpr float kTwiceRootOfTwoByPi = 1.5957691216057308F;
          const Vector cubic = hn::Mul(hn::Mul(value, value), hn::Mul(value, hn::Set(kTag, 0.044715F)));
          const Vector inner = hn::Mul(hn::Set(kTag, -kTwiceRootOfTwoByPi), hn::Add(value, cubic));
          return gated(value, inner);
        });
        break;
    }
  }
}

void layer_norm(const Rows& x, std::size_t width, const float* weight, const float* bias, float epsilon,
                const MutableRows& y) {
  const float part = 1.0F / static_cast<float>(width);
  for (std::size_t r = 0; r < x.count; ++r) {
    const float* const from = x.data + r * x.stride;
    float* const to = y.data + r * y.stride;
    Vector sum = hn::Zero(kTag);
    for (std::size_t i = 0; i < width; i += kLanes)
      sum = hn::Add(sum, load_part(from, i, width));
    const Vector mean = hn::Mul(hn::SumOfLanes(kTag, sum), hn::Set(kTag, part));
    Vector squares = hn::Zero(kTag);
    std::size_t i = 0;
    for (; i + kLanes <= width; i += kLanes) {
      const Vector distance = hn::Sub(hn::LoadU(kTag, from + i), mean);
      squares = hn::MulAdd(distance, distance, squares);
    }
    float total = hn::GetLane(hn::SumOfLanes(kTag, squares));
    const float middle = hn::GetLane(mean);
    for (; i < width; ++i)
      total += (from[i] - middle) * (from[i] - middle);
    const Vector scale = hn::Div(hn::Set(kTag, 1.0F), hn::Sqrt(hn::Set(kTag, total * part + epsilon)));
    put_each_vector(from, to, width, [&](std::size_t at, Vector value) {
      const Vector normal = hn::Mul(hn::Sub(value, mean), scale);
      return hn::MulAdd(normal, load_part(weight, at, width), load_part(bias, at, width));
    });
  }
}

void rms_norm(const Rows& x, std::size_t width, const float* weight, std::size_t part, float epsilon,
              const MutableRows& y) {
  for (std::size_t r = 0; r < x.count; ++r) {
    for (std::size_t first = 0; first < width; first += part) {
      const float* const from = x.data + r * x.stride + first;
      float* const to = y.data + r * y.stride + first;
      Vector squares = hn::Zero(kTag);
      for (std::size_t i = 0; i < part; i += kLanes) {
        const Vector value = load_part(from, i, part);
        squares = hn::MulAdd(value, value, squares);
      }
      const float mean = hn::GetLane(hn::SumOfLanes(kTag, squares)) / static_cast<float>(part);
      const Vector scale = hn::Div(hn::Set(kTag, 1.0F), hn::Sqrt(hn::Set(kTag, mean + epsilon)));
      put_each_vector(from, to, part, [&](std::size_t at, Vector value) {
        return hn::Mul(hn::Mul(value, scale), load_part(weight, at, part));
      });
    }
  }
}

static_assert(kPanelColumns <= kPanelColumnsMost);

constexpr Kernels make_kernels(std::string_view name) {
  return {.name = name,
          .panel_columns = kPanelColumns,
          .f32 = kF32Product,
          .bf16 = {},
          .f16 = {},
          .int8 = {},
          .add = add,
          .multiply = multiply_rows,
          .scale = scale,
          .rope = rope,
          .activate = activate,
          .layer_norm = layer_norm,
          .rms_norm = rms_norm};
}

}  // namespace
}  // namespace latebind::native
HWY_AFTER_NAMESPACE();

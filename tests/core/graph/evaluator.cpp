#include "evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace latebind::graph::testing {
namespace {

std::size_t size(std::int64_t dim) {
  return static_cast<std::size_t>(dim);
}

class Evaluator {
 public:
  Evaluator(const Graph& graph, const Inputs& inputs, std::optional<int> bits)
      : graph_(graph), inputs_(inputs), bits_(bits) {}

  Array run() {
    for (const Node& node : graph_.nodes()) {
      values_.push_back(std::visit(*this, node.op));
      check_shape(node, values_.back());
      if (bits_ && !std::holds_alternative<Input>(node.op)) round(values_.back());
    }
    return of(graph_.output());
  }

  Array operator()(const Input& op) const { return inputs_.at(op.name); }

  Array operator()(const Lookup& op) const {
    const Array table = weight(op.table);
    const Array& ids = of(op.ids);
    Array out{{ids.shape[0], ids.shape[1], table.shape[1]}, {}};
    for (const double id : ids.values)
      append_row(out, table, size(static_cast<std::int64_t>(id)));
    return out;
  }

  Array operator()(const PositionLookup& op) const {
    const Array table = weight(op.table);
    const Array& ids = of(op.ids);
    if (!op.padding) {
      Array out{{ids.shape[1], table.shape[1]}, {}};
      for (std::size_t t = 0; t < size(out.shape[0]); ++t)
        append_row(out, table, t);
      return out;
    }
    Array out{{ids.shape[0], ids.shape[1], table.shape[1]}, {}};
    std::size_t last = 0;
    for_each(ids.shape, [&](const Dims& index) {
      if (index[1] == 0) last = size(*op.padding);
      const bool is_padding = at(ids, index) == static_cast<double>(*op.padding);
      append_row(out, table, is_padding ? size(*op.padding) : ++last);
    });
    return out;
  }

  Array operator()(const RowLookup& op) const {
    const Array table = weight(op.table);
    Array out{{table.shape[1]}, {}};
    append_row(out, table, size(op.row));
    return out;
  }

  Array operator()(const WholeTable& op) const { return weight(op.table); }

  Array operator()(const Add& op) const { return binary(of(op.a), of(op.b), std::plus<>()); }

  Array operator()(const Multiply& op) const { return binary(of(op.a), of(op.b), std::multiplies<>()); }

  Array operator()(const Scale& op) const {
    return map(of(op.x), [&](double value) { return value * op.factor; });
  }

  Array operator()(const Columns& op) const {
    Array out{of(op.x).shape, {}};
    out.shape.back() = out.shape.back() / op.width * op.count;
    for_each(out.shape, [&](Dims index) {
      const std::int64_t column = index.back();
      index.back() = column / op.count * op.width + op.first + column % op.count;
      out.values.push_back(at(of(op.x), index));
    });
    return out;
  }

  Array operator()(const Convolution& op) const {
    const Array matrix = weight(op.weight);
    const Array& x = of(op.x);
    Array out{{x.shape[0], x.shape[1], matrix.shape[0]}, {}};
    for_each(out.shape, [&](const Dims& index) {
      double sum = op.bias ? at(weight(*op.bias), {index[2]}) : 0;
      for (std::int64_t k = 0; k < matrix.shape[2]; ++k) {
        const std::int64_t t = index[1] + k - (matrix.shape[2] - 1) / 2;
        if (t < 0 || t >= x.shape[1] || at(of(op.mask), {index[0], t}) == 0) continue;
        for (std::int64_t i = 0; i < matrix.shape[1]; ++i)
          sum = summed(sum, at(matrix, {index[2], i, k}) * at(x, {index[0], t, i}));
      }
      out.values.push_back(sum);
    });
    return out;
  }

  Array operator()(const Linear& op) const {
    const Array matrix = weight(op.weight);
    const Array bias =
        op.bias ? weight(*op.bias) : Array{{matrix.shape[0]}, std::vector<double>(size(matrix.shape[0]))};
    Array x = of(op.x);
    const std::size_t in = size(matrix.shape[1]);
    Array out{x.shape, {}};
    out.shape.back() = matrix.shape[0];
    for (std::size_t row = 0; row < x.values.size(); row += in) {
      for (std::size_t o = 0; o < bias.values.size(); ++o) {
        double sum = bias.values[o];
        for (std::size_t i = 0; i < in; ++i)
          sum = summed(sum, x.values[row + i] * matrix.values[o * in + i]);
        out.values.push_back(sum);
      }
    }
    return out;
  }

  Array operator()(const Attention& op) const {
    const std::int64_t width = of(op.query).shape[2] / op.heads;
    const Array query = op.rotary ? turned(of(op.query), *op.rotary) : of(op.query);
    const Array key = op.rotary ? turned(of(op.key), *op.rotary) : of(op.key);
    const std::int64_t tokens = query.shape[1];
    const auto& bias = op.distance_bias;
    const Array biases = bias ? weight(bias->table) : Array();
    Array out{query.shape, {}};
    for_each(query.shape, [&](const Dims& index) {
      // Of the same text, at token s and component i.
      const auto element = [&](const Array& array, std::int64_t s, std::int64_t i) {
        return array.values[size((index[0] * tokens + s) * array.shape[2] + i)];
      };
      const std::int64_t head = index[2] / width;
      const std::int64_t first = head * width;
      // From a column of the query to that of the key and the value.
      const std::int64_t back = first - head * op.key_heads / op.heads * width;
      std::vector<double> weights;
      for (std::int64_t s = 0; s < tokens; ++s) {
        double product = 0;
        for (std::int64_t i = first; i < first + width; ++i)
          product = summed(product, element(query, index[1], i) * element(key, s, i - back));
        const bool seen = !op.causal || s <= index[1];
        const bool near = seen && (!op.window || std::abs(s - index[1]) <= *op.window);
        const bool kept = near && of(op.mask).values[size(index[0] * tokens + s)] == 1;
        if (const auto& terms = op.disentangled) {
          const std::int64_t row = row_of(*terms, index[1] - s);
          for (std::int64_t i = first; i < first + width; ++i) {
            if (terms->keys) product = summed(product, element(query, index[1], i) * at(of(*terms->keys), {row, i}));
            if (terms->queries) product = summed(product, element(key, s, i) * at(of(*terms->queries), {row, i}));
          }
        }
        double score = op.scale * product;
        if (op.soft_cap) score = *op.soft_cap * std::tanh(score / *op.soft_cap);
        if (bias) score += at(biases, {bucket_of(*bias, s - index[1]), head});
        if (op.linear_bias)
          score -=
              static_cast<double>(op.linear_bias->slopes[size(head)]) * static_cast<double>(std::abs(s - index[1]));
        weights.push_back(kept ? score : -std::numeric_limits<double>::infinity());
      }
      // An unattended token that attends to none has nothing. Padding that is far from every token: what it has is not
      // specified, but a number.
      const bool sees_none = std::ranges::max(weights) < 0 && std::isinf(std::ranges::max(weights));
      if (sees_none) std::ranges::fill(weights, 0);
      if (!sees_none || !op.may_be_unattended) softmax(weights);
      double sum = 0;
      for (std::int64_t s = 0; s < tokens; ++s)
        sum = summed(sum, weights[size(s)] * element(of(op.value), s, index[2] - back));
      out.values.push_back(sum);
    });
    return out;
  }

  Array operator()(const ShortConvolution& op) const {
    const Array& x = of(op.x);
    const Array factors = weight(op.weight);
    const Array bias = op.bias ? weight(*op.bias) : Array();
    const std::int64_t count = factors.shape[1];
    Array out{x.shape, {}};
    for_each(x.shape, [&](const Dims& index) {
      double sum = op.bias ? at(bias, {index[2]}) : 0;
      for (std::int64_t back = 0; back < count && back <= index[1]; ++back)
        sum = summed(sum, at(factors, {index[2], count - 1 - back}) * at(x, {index[0], index[1] - back, index[2]}));
      out.values.push_back(sum);
    });
    return out;
  }

  Array operator()(const Experts& op) const {
    const Array& x = of(op.x);
    const Array wide = weight(op.wide);
    const Array narrow = weight(op.narrow);
    Array shares = by_row(of(op.router), softmax);
    shares = by_row(shares, [&](std::span<double> row) { keep_largest(row, size(op.chosen)); });
    const std::int64_t columns = x.shape[2];
    const std::int64_t experts = shares.shape[2];
    const std::int64_t rows = wide.shape[0] / experts;
    Array out{x.shape, std::vector<double>(x.values.size())};
    for (std::int64_t token = 0; token < x.shape[0] * x.shape[1]; ++token) {
      for (std::int64_t e = 0; e < experts; ++e) {
        const double share = shares.values[size(token * experts + e)];
        Array inner{{rows}, {}};
        for (std::int64_t row = e * rows; share != 0 && row < (e + 1) * rows; ++row) {
          double sum = 0;
          for (std::int64_t i = 0; i < columns; ++i)
            sum = summed(sum, at(wide, {row, i}) * x.values[size(token * columns + i)]);
          inner.values.push_back(sum);
        }
        inner = activate(std::move(inner), op.function);
        for (std::int64_t i = 0; share != 0 && i < columns; ++i) {
          double sum = 0;
          for (std::int64_t row = 0; row < rows; ++row)
            sum = summed(sum, inner.values[size(row)] * at(narrow, {e * rows + row, i}));
          out.values[size(token * columns + i)] += share * sum;
        }
      }
    }
    return op.bias ? binary(out, weight(*op.bias), std::plus<>()) : out;
  }

  Array operator()(const LayerNorm& op) const {
    const Array scale = weight(op.weight);
    const Array shift = op.bias ? weight(*op.bias) : map(scale, [](double) { return 0.0; });
    return layer_norm(of(op.x), scale, shift, op.epsilon);
  }

  Array operator()(const RmsNorm& op) const {
    const Array scale = weight(op.weight);
    Array out = of(op.x);
    const std::size_t width = scale.values.size();
    for (std::size_t first = 0; first < out.values.size(); first += width) {
      double squares = 0;
      for (std::size_t i = first; i < first + width; ++i)
        squares += out.values[i] * out.values[i];
      const double length = std::sqrt(squares / static_cast<double>(width) + op.epsilon);
      for (std::size_t i = 0; i < width; ++i)
        out.values[first + i] *= (scale.values[i] + op.offset) / length;
    }
    return out;
  }

  Array operator()(const Activation& op) const { return activate(of(op.x), op.function); }

  Array operator()(const Pool& op) const {
    const Array& x = of(op.x);
    Array out{{x.shape[0], x.shape[2]}, {}};
    for_each(out.shape, [&](const Dims& index) {
      std::vector<double> kept;
      for (std::int64_t t = 0; t < x.shape[1]; ++t) {
        if (at(of(op.mask), {index[0], t}) != 0) kept.push_back(at(x, {index[0], t, index[1]}));
      }
      out.values.push_back(pooled(op.mode, kept));
    });
    return out;
  }

  Array operator()(const Normalize& op) const {
    return by_row(of(op.x), [](std::span<double> row) {
      double length = 0;
      for (const double value : row)
        length += value * value;
      length = std::max(std::sqrt(length), 1e-12);
      for (double& value : row)
        value /= length;
    });
  }

 private:
  static Array turned(const Array& x, Rotary rotary) {
    // Of the positions that there are: a text beyond the limit has an answer here, and the engine refuses it.
    rotary.positions = x.shape[1];
    const Turns turns = turns_of(rotary);
    const auto half = static_cast<std::int64_t>(rotary.frequencies.size());
    const std::int64_t width = 2 * half;
    Array out{x.shape, {}};
    for_each(x.shape, [&](const Dims& index) {
      const std::int64_t column = index[2] % width;
      const std::size_t angle = size(index[1] * half + column % half);
      const bool is_first = column < half;
      const double other = at(x, {index[0], index[1], index[2] + (is_first ? half : -half)});
      out.values.push_back(at(x, index) * turns.cosines.at(angle) +
                           (is_first ? -other : other) * turns.sines.at(angle));
    });
    return out;
  }

  static double pooled(PoolingMode mode, const std::vector<double>& tokens) {
    switch (mode) {
      case PoolingMode::kCls:
        return tokens.front();
      case PoolingMode::kMax:
        return *std::ranges::max_element(tokens);
      case PoolingMode::kLastToken:
        return tokens.back();
      case PoolingMode::kMean:
      case PoolingMode::kMeanSqrt:
      case PoolingMode::kWeightedMean:
        break;
    }
    double sum = 0;
    double count = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const double weight = mode == PoolingMode::kWeightedMean ? static_cast<double>(t + 1) : 1.0;
      sum += weight * tokens[t];
      count += weight;
    }
    return sum / (mode == PoolingMode::kMeanSqrt ? std::sqrt(count) : count);
  }

  static void append_row(Array& to, const Array& table, std::size_t row) {
    const std::size_t width = size(table.shape[1]);
    for (std::size_t i = 0; i < width; ++i)
      to.values.push_back(table.values.at(row * width + i));
  }

  // What the graph says of a value must be what it is.
  static void check_shape(const Node& node, const Array& array) {
    const auto dims = node.shape.dims();
    const bool same = std::ranges::equal(
        dims, array.shape, [](std::int64_t said, std::int64_t is) { return said == core::kDynamic || said == is; });
    if (!same || array.values.size() != size(count_of(array.shape))) {
      throw std::logic_error("a value of another shape than the graph says");
    }
  }

  [[nodiscard]] const Array& of(Value value) const { return values_.at(value.node); }
  [[nodiscard]] Array weight(const Weight& weight) const {
    return read_array(weight.type, weight.shape, graph_.bytes_of(weight));
  }

  // Rounded as f32, in which everybody sums up at best: the longer a sum, the more that is beside rounding it once.
  [[nodiscard]] double summed(double sum, double more) const {
    return bits_ ? static_cast<double>(static_cast<float>(sum + more)) : sum + more;
  }

  void round(Array& array) const {
    for (double& number : array.values) {
      int exponent = 0;
      const double fraction = std::frexp(number, &exponent);
      number = std::ldexp(std::nearbyint(std::ldexp(fraction, *bits_)), exponent - *bits_);
    }
  }

  const Graph& graph_;
  const Inputs& inputs_;
  const std::optional<int> bits_;
  std::vector<Array> values_;
};

}  // namespace

Array activate(Array x, ActivationFunction function) {
  return map(std::move(x), [function](double v) {
    switch (function) {
      case ActivationFunction::kGeluErf:
        return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
      case ActivationFunction::kGeluTanh:
        return 0.5 * v * (1 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v)));
      case ActivationFunction::kTanh:
        return std::tanh(v);
      case ActivationFunction::kSilu:
        return v / (1 + std::exp(-v));
      case ActivationFunction::kRelu:
        break;
    }
    return std::max(v, 0.0);
  });
}

Array evaluate(const Graph& graph, const Inputs& inputs, std::optional<int> bits) {
  return Evaluator(graph, inputs, bits).run();
}

}  // namespace latebind::graph::testing

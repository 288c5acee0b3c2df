#include "kit/reference/evaluator.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "kit/reference/attention.h"

namespace latebind::kit {
namespace {

using graph::Activation;
using graph::ActivationFunction;
using graph::Add;
using graph::Attention;
using graph::Columns;
using graph::Convolution;
using graph::Experts;
using graph::Graph;
using graph::GraphOutput;
using graph::Input;
using graph::LayerNorm;
using graph::Linear;
using graph::Lookup;
using graph::Multiply;
using graph::Node;
using graph::Normalize;
using graph::Pool;
using graph::PoolingMode;
using graph::PositionLookup;
using graph::RmsNorm;
using graph::RowLookup;
using graph::Scale;
using graph::ShortConvolution;
using graph::Value;
using graph::Weight;
using graph::WholeTable;

class Evaluator {
 public:
  Evaluator(const Graph& graph, const Inputs& inputs, std::optional<int> bits)
      : graph_(graph), inputs_(inputs), bits_(bits) {}

  std::vector<Array> run() {
    for (const Node& node : graph_.nodes()) {
      values_.push_back(std::visit(*this, node.op));
      check_shape(node, values_.back());
      if (bits_ && !std::holds_alternative<Input>(node.op)) round(values_.back());
    }
    std::vector<Array> outputs;
    for (const GraphOutput& output : graph_.outputs())
      outputs.push_back(of(output.value));
    return outputs;
  }

  Array operator()(const Input& op) const { return inputs_.at(op.name); }

  Array operator()(const Lookup& op) const {
    const Array table = weight(op.table);
    const Array& ids = of(op.ids);
    Array out{{ids.shape[0], ids.shape[1], table.shape[1]}, {}};
    for (const double id : ids.values)
      append_row(out, table, to_size(static_cast<std::int64_t>(id)));
    return out;
  }

  Array operator()(const PositionLookup& op) const {
    const Array table = weight(op.table);
    const Array& ids = of(op.ids);
    if (!op.padding) {
      Array out{{ids.shape[1], table.shape[1]}, {}};
      for (std::size_t t = 0; t < to_size(out.shape[0]); ++t)
        append_row(out, table, t);
      return out;
    }
    Array out{{ids.shape[0], ids.shape[1], table.shape[1]}, {}};
    std::size_t last = 0;
    for_each(ids.shape, [&](const Dims& index) {
      if (index[1] == 0) last = to_size(*op.padding);
      const bool is_padding = at(ids, index) == static_cast<double>(*op.padding);
      append_row(out, table, is_padding ? to_size(*op.padding) : ++last);
    });
    return out;
  }

  Array operator()(const RowLookup& op) const {
    const Array table = weight(op.table);
    Array out{{table.shape[1]}, {}};
    append_row(out, table, to_size(op.row));
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
    const Array bias = bias_of(op.bias, matrix.shape[0]);
    const Array& x = of(op.x);
    const Array& mask = of(op.mask);
    Array out{{x.shape[0], x.shape[1], matrix.shape[0]}, {}};
    for_each(out.shape, [&](const Dims& index) {
      double sum = bias.values[to_size(index[2])];
      for (std::int64_t k = 0; k < matrix.shape[2]; ++k) {
        const std::int64_t t = index[1] + k - (matrix.shape[2] - 1) / 2;
        if (t < 0 || t >= x.shape[1] || mask.values[to_size(index[0] * x.shape[1] + t)] == 0) continue;
        for (std::int64_t i = 0; i < matrix.shape[1]; ++i)
          sum = summed(sum, at(matrix, {index[2], i, k}) * at(x, {index[0], t, i}));
      }
      out.values.push_back(sum);
    });
    return out;
  }

  Array operator()(const Linear& op) const {
    const Array matrix = weight(op.weight);
    const Array bias = bias_of(op.bias, matrix.shape[0]);
    const Array& x = of(op.x);
    const std::size_t in = to_size(matrix.shape[1]);
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
    const Array table = op.distance_bias ? weight(op.distance_bias->table) : Array();
    AttentionOperands operands{.query = &of(op.query),
                               .key = &of(op.key),
                               .value = &of(op.value),
                               .mask = &of(op.mask),
                               .distance_bias = &table};
    if (op.disentangled && op.disentangled->keys) operands.disentangled_keys = &of(*op.disentangled->keys);
    if (op.disentangled && op.disentangled->queries) operands.disentangled_queries = &of(*op.disentangled->queries);
    return attend(op, operands, [this](double sum, double term) { return summed(sum, term); });
  }

  Array operator()(const ShortConvolution& op) const {
    const Array& x = of(op.x);
    const Array factors = weight(op.weight);
    const Array bias = bias_of(op.bias, x.shape[2]);
    const std::int64_t count = factors.shape[1];
    Array out{x.shape, {}};
    for_each(x.shape, [&](const Dims& index) {
      double sum = bias.values[to_size(index[2])];
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
    shares = by_row(shares, [&](std::span<double> row) { keep_largest(row, to_size(op.chosen)); });
    const std::int64_t columns = x.shape[2];
    const std::int64_t experts = shares.shape[2];
    const std::int64_t rows = wide.shape[0] / experts;
    Array out{x.shape, std::vector<double>(x.values.size())};
    for (std::int64_t token = 0; token < x.shape[0] * x.shape[1]; ++token) {
      for (std::int64_t e = 0; e < experts; ++e) {
        const double share = shares.values[to_size(token * experts + e)];
        Array inner{{rows}, {}};
        for (std::int64_t row = e * rows; share != 0 && row < (e + 1) * rows; ++row) {
          double sum = 0;
          for (std::int64_t i = 0; i < columns; ++i)
            sum = summed(sum, at(wide, {row, i}) * x.values[to_size(token * columns + i)]);
          inner.values.push_back(sum);
        }
        inner = activate(std::move(inner), op.function);
        for (std::int64_t i = 0; share != 0 && i < columns; ++i) {
          double sum = 0;
          for (std::int64_t row = 0; row < rows; ++row)
            sum = summed(sum, inner.values[to_size(row)] * at(narrow, {e * rows + row, i}));
          out.values[to_size(token * columns + i)] += share * sum;
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
    const std::size_t width = to_size(table.shape[1]);
    for (std::size_t i = 0; i < width; ++i)
      to.values.push_back(table.values.at(row * width + i));
  }

  // Checks that a value has the shape that the graph declares.
  static void check_shape(const Node& node, const Array& array) {
    const auto dims = node.shape.dims();
    const bool same = std::ranges::equal(dims, array.shape, [](std::int64_t declared, std::int64_t dim) {
      return declared == core::kDynamic || declared == dim;
    });
    if (!same || array.values.size() != to_size(count_of(array.shape))) {
      throw std::logic_error("a value has another shape than the graph declares");
    }
  }

  [[nodiscard]] const Array& of(Value value) const { return values_.at(value.node); }
  [[nodiscard]] Array weight(const Weight& weight) const {
    return read_array(weight.type, weight.shape, graph_.bytes_of(weight));
  }
  [[nodiscard]] Array bias_of(const std::optional<Weight>& bias, std::int64_t columns) const {
    return bias ? weight(*bias) : Array{{columns}, std::vector<double>(to_size(columns))};
  }

  // Devices sum up in f32 at best. The longer the sum, the more this differs from rounding the sum once.
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

std::vector<Array> evaluate_all(const Graph& graph, const Inputs& inputs, std::optional<int> bits) {
  return Evaluator(graph, inputs, bits).run();
}

Array evaluate(const Graph& graph, const Inputs& inputs, std::optional<int> bits) {
  return std::move(evaluate_all(graph, inputs, bits).front());
}

}  // namespace latebind::kit

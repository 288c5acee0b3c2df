#include "primitive_evaluator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "kit/reference/evaluator.h"

namespace latebind::graph::testing {
namespace {

using kit::activate;
using kit::Array;
using kit::at;
using kit::binary;
using kit::by_row;
using kit::count_of;
using kit::Dims;
using kit::for_each;
using kit::Inputs;
using kit::keep_largest;
using kit::map;
using kit::read_array;
using kit::softmax;
using primitive::BinaryFunction;
using primitive::ReduceFunction;

Array matmul(const Array& a, const Array& b, bool transpose_b) {
  const std::int64_t rows = a.shape[a.shape.size() - 2];
  const std::int64_t inner = a.shape.back();
  const std::int64_t columns = b.shape[b.shape.size() - (transpose_b ? 2 : 1)];
  if (inner != b.shape[b.shape.size() - (transpose_b ? 1 : 2)]) throw std::logic_error("matrices that do not fit");
  if (b.shape.size() > a.shape.size() || !std::equal(b.shape.rbegin() + 2, b.shape.rend(), a.shape.rbegin() + 2))
    throw std::logic_error("matrices that do not fit");
  Dims shape = a.shape;
  shape.back() = columns;
  Array out{shape, {}};
  // Computes one product for each index of the leading dimensions; b may have fewer of them.
  const auto step = [](const Array& x) { return x.shape[x.shape.size() - 2] * x.shape.back(); };
  const std::int64_t products = count_of(shape) / (rows * columns);
  const std::int64_t matrices = count_of(b.shape) / (inner * columns);
  for (std::int64_t n = 0; n < products; ++n) {
    const double* left = a.values.data() + n * step(a);
    const double* right = b.values.data() + n % matrices * step(b);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          sum += left[row * inner + k] * (transpose_b ? right[column * inner + k] : right[k * columns + column]);
        }
        out.values.push_back(sum);
      }
    }
  }
  return out;
}

Array gather(const Array& data, const Array& indices, std::int64_t axis) {
  const auto split = static_cast<std::size_t>(axis);
  Dims shape(data.shape.begin(), data.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + axis + 1, data.shape.end());
  Array out{shape, {}};
  for_each(shape, [&](const Dims& index) {
    const Dims which(index.begin() + axis, index.begin() + axis + static_cast<std::int64_t>(indices.shape.size()));
    Dims place(index.begin(), index.begin() + axis);
    place.push_back(static_cast<std::int64_t>(at(indices, which)));
    place.insert(place.end(), index.begin() + static_cast<std::int64_t>(split + indices.shape.size()), index.end());
    out.values.push_back(at(data, place));
  });
  return out;
}

Array reduce(const Array& x, const primitive::Reduce& op) {
  Dims kept = x.shape;
  for (const std::int64_t axis : op.axes)
    kept[static_cast<std::size_t>(axis)] = 1;
  const bool max = op.function == ReduceFunction::kMax;
  Array out{kept, std::vector<double>(static_cast<std::size_t>(count_of(kept)), max ? -1e300 : 0.0)};
  for_each(x.shape, [&](const Dims& index) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
      offset = offset * kept[i] + (kept[i] == 1 ? 0 : index[i]);
    double& slot = out.values[static_cast<std::size_t>(offset)];
    const double value = at(x, index);
    slot = max ? std::max(slot, value) : slot + (op.function == ReduceFunction::kL2 ? value * value : value);
  });
  if (op.function == ReduceFunction::kL2) {
    for (double& value : out.values)
      value = std::sqrt(value);
  }
  if (op.function == ReduceFunction::kMean) {
    const double count = static_cast<double>(count_of(x.shape)) / static_cast<double>(count_of(kept));
    for (double& value : out.values)
      value /= count;
  }
  if (!op.keep_dimensions) {
    for (auto axis = op.axes.rbegin(); axis != op.axes.rend(); ++axis)
      out.shape.erase(out.shape.begin() + *axis);
  }
  return out;
}

Array reshape(Array x, const std::vector<std::int64_t>& wanted) {
  Dims shape = wanted;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) shape[i] = x.shape.at(i);
  }
  const auto open = std::ranges::find(shape, -1);
  if (open != shape.end()) *open = -count_of(x.shape) / count_of(shape);
  if (count_of(shape) != count_of(x.shape)) throw std::logic_error("a reshape that does not fit");
  x.shape = shape;
  return x;
}

Array transpose(const Array& x, const std::vector<std::int64_t>& permutation) {
  Dims shape;
  for (const std::int64_t axis : permutation)
    shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  Array out{shape, {}};
  for_each(shape, [&](const Dims& index) {
    Dims from(index.size());
    for (std::size_t i = 0; i < index.size(); ++i)
      from[static_cast<std::size_t>(permutation[i])] = index[i];
    out.values.push_back(at(x, from));
  });
  return out;
}

class PrimitiveEvaluator {
 public:
  PrimitiveEvaluator(const Graph& graph, const Inputs& inputs) : graph_(graph), inputs_(inputs) {}

  Array run(const PrimitiveNetwork& network) {
    for (const PrimitiveNode& node : network.nodes)
      values_.push_back(std::visit(*this, node.op));
    return of(network.outputs.front().value);
  }

  Array operator()(const Input& op) const { return inputs_.at(op.name); }
  Array operator()(const Weight& op) const { return read_array(op.type, op.shape, graph_.bytes_of(op)); }
  Array operator()(const primitive::Constant& op) const { return read_array(op.type, op.shape, op.bytes); }
  Array operator()(const primitive::Convert& op) const { return of(op.x); }
  Array operator()(const primitive::Gather& op) const { return gather(of(op.data), of(op.indices), op.axis); }
  Array operator()(const primitive::GatherRow& op) const {
    const Array& data = of(op.data);
    Array out{{data.shape[0], data.shape[2]}, {}};
    for_each(out.shape, [&](const Dims& index) {
      const auto row = static_cast<std::int64_t>(at(of(op.indices), {index[0], 0}));
      out.values.push_back(at(data, {index[0], row, index[1]}));
    });
    return out;
  }
  Array operator()(const primitive::FirstRows& op) const {
    Array out = of(op.table);
    out.shape[0] = of(op.like).shape[1];
    out.values.resize(static_cast<std::size_t>(count_of(out.shape)));
    return out;
  }
  Array operator()(const primitive::Positions& op) const {
    Array out{{of(op.like).shape[1]}, {}};
    for (std::int64_t i = 0; i < out.shape[0]; ++i)
      out.values.push_back(static_cast<double>(i));
    return out;
  }
  Array operator()(const primitive::CumulativeSum& op) const {
    return by_row(of(op.x), [](std::span<double> row) { std::partial_sum(row.begin(), row.end(), row.begin()); });
  }
  Array operator()(const primitive::IsEqual& op) const {
    return binary(of(op.x), of(op.number), [](double a, double b) { return a == b ? 1.0 : 0.0; });
  }
  Array operator()(const primitive::Slice& op) const {
    Array out{of(op.x).shape, {}};
    out.shape.back() = op.count;
    for_each(out.shape, [&](Dims index) {
      index.back() += op.first;
      out.values.push_back(at(of(op.x), index));
    });
    return out;
  }
  Array operator()(const primitive::Concat& op) const {
    const std::int64_t first = of(op.a).shape.back();
    Array out{of(op.a).shape, {}};
    out.shape.back() += of(op.b).shape.back();
    for_each(out.shape, [&](Dims index) {
      const bool is_of_a = index.back() < first;
      if (!is_of_a) index.back() -= first;
      out.values.push_back(at(of(is_of_a ? op.a : op.b), index));
    });
    return out;
  }
  Array operator()(const primitive::Binary& op) const {
    switch (op.function) {
      case BinaryFunction::kAdd:
        return binary(of(op.a), of(op.b), std::plus<>());
      case BinaryFunction::kSubtract:
        return binary(of(op.a), of(op.b), std::minus<>());
      case BinaryFunction::kMultiply:
        return binary(of(op.a), of(op.b), std::multiplies<>());
      case BinaryFunction::kDivide:
        return binary(of(op.a), of(op.b), std::divides<>());
      case BinaryFunction::kMaximum:
        return binary(of(op.a), of(op.b), [](double a, double b) { return std::max(a, b); });
      case BinaryFunction::kMinimum:
        return binary(of(op.a), of(op.b), [](double a, double b) { return std::min(a, b); });
    }
    throw std::logic_error("an unknown function");
  }
  Array operator()(const primitive::SquareRoot& op) const {
    Array out = of(op.x);
    for (double& value : out.values)
      value = std::sqrt(value);
    return out;
  }
  Array operator()(const primitive::MatMul& op) const { return matmul(of(op.a), of(op.b), op.transpose_b); }
  Array operator()(const primitive::Convolution& op) const {
    const Array& x = of(op.x);
    const Array& matrix = of(op.weight);
    Array out{{x.shape[0], matrix.shape[0], x.shape[2]}, {}};
    for_each(out.shape, [&](const Dims& index) {
      double sum = 0;
      for (std::int64_t k = 0; k < op.width; ++k) {
        const std::int64_t t = index[2] + k - (op.width - 1) / 2;
        if (t < 0 || t >= x.shape[2]) continue;
        for (std::int64_t i = 0; i < x.shape[1]; ++i)
          sum += at(matrix, {index[1], i, k}) * at(x, {index[0], i, t});
      }
      out.values.push_back(sum);
    });
    return out;
  }
  Array operator()(const primitive::Reshape& op) const { return reshape(of(op.x), op.shape); }
  Array operator()(const primitive::Transpose& op) const { return transpose(of(op.x), op.permutation); }
  Array operator()(const primitive::Unsqueeze& op) const {
    Array out = of(op.x);
    for (const std::int64_t axis : op.axes)
      out.shape.insert(out.shape.begin() + axis, 1);
    return out;
  }
  Array operator()(const primitive::Squeeze& op) const {
    Array out = of(op.x);
    for (const std::int64_t axis : op.axes)
      out.shape.erase(out.shape.begin() + axis);
    return out;
  }
  Array operator()(const primitive::Softmax& op) const { return by_row(of(op.x), softmax); }
  Array operator()(const primitive::KeepLargest& op) const {
    return by_row(of(op.x), [&](std::span<double> row) { keep_largest(row, static_cast<std::size_t>(op.count)); });
  }
  Array operator()(const primitive::LayerNorm& op) const {
    const Array& scale = of(op.weight);
    return layer_norm(of(op.x), scale, op.bias ? of(*op.bias) : map(scale, [](double) { return 0.0; }), op.epsilon);
  }
  Array operator()(const Activation& op) const { return activate(of(op.x), op.function); }
  Array operator()(const primitive::Reduce& op) const { return reduce(of(op.x), op); }

 private:
  [[nodiscard]] const Array& of(Value value) const { return values_.at(value.node); }

  const Graph& graph_;
  const Inputs& inputs_;
  std::vector<Array> values_;
};

}  // namespace

Array evaluate(const PrimitiveNetwork& network, const Graph& graph, const Inputs& inputs) {
  return PrimitiveEvaluator(graph, inputs).run(network);
}

}  // namespace latebind::graph::testing

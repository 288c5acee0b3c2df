#include "evaluator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace latebind::embedding::testing {
namespace {

using core::ElementType;
using Shape = std::vector<std::int64_t>;

std::int64_t count_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

double half(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = bits >> 10U & 0x1fU;
  const int fraction = bits & 0x3ffU;
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(fraction + 1024, exponent - 25);
}

template <class T>
T load(std::span<const std::byte> bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

Array read(const Node& node) {
  Array array{node.shape, {}};
  const auto count = static_cast<std::size_t>(count_of(node.shape));
  for (std::size_t i = 0; i < count; ++i) {
    switch (node.type) {
      case ElementType::kF32:
        array.values.push_back(load<float>(node.bytes, i));
        break;
      case ElementType::kI64:
        array.values.push_back(static_cast<double>(load<std::int64_t>(node.bytes, i)));
        break;
      case ElementType::kF16:
        array.values.push_back(half(load<std::uint16_t>(node.bytes, i)));
        break;
      case ElementType::kBF16:
        array.values.push_back(std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(node.bytes, i)} << 16U));
        break;
      default:
        throw std::logic_error("a constant of an unexpected type");
    }
  }
  return array;
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Calls `visit` with each index of `shape`, row-major.
void for_each(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  Shape index(shape.size(), 0);
  for (std::int64_t n = count_of(shape); n > 0; --n) {
    visit(index);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
}

// The element of `array` at an index of a shape that it is broadcast to.
double at(const Array& array, const Shape& index) {
  const Shape strides = strides_of(array.shape);
  std::int64_t offset = 0;
  const std::size_t skip = index.size() - array.shape.size();
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    if (array.shape[i] != 1) offset += index[skip + i] * strides[i];
  }
  return array.values.at(static_cast<std::size_t>(offset));
}

Array binary(const Array& a, const Array& b, const std::function<double(double, double)>& op) {
  Shape shape = a.shape.size() >= b.shape.size() ? a.shape : b.shape;
  const Shape& other = a.shape.size() >= b.shape.size() ? b.shape : a.shape;
  for (std::size_t i = 0; i < other.size(); ++i) {
    auto& dim = shape[shape.size() - other.size() + i];
    if (dim != other[i] && dim != 1 && other[i] != 1) throw std::logic_error("shapes that do not broadcast");
    dim = std::max(dim, other[i]);
  }
  Array out{shape, {}};
  for_each(shape, [&](const Shape& index) { out.values.push_back(op(at(a, index), at(b, index))); });
  return out;
}

Array matmul(const Array& a, const Array& b, bool transpose_b) {
  const std::int64_t rows = a.shape[a.shape.size() - 2];
  const std::int64_t inner = a.shape.back();
  const std::int64_t columns = b.shape[b.shape.size() - (transpose_b ? 2 : 1)];
  if (inner != b.shape[b.shape.size() - (transpose_b ? 1 : 2)]) throw std::logic_error("matrices that do not fit");
  const bool same_batch = std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin(), b.shape.end() - 2);
  if (!same_batch && b.shape.size() != 2) throw std::logic_error("matrices that do not fit");
  Shape shape = a.shape;
  shape.back() = columns;
  Array out{shape, {}};
  // One product for each index of the leading dimensions; a matrix b serves them all.
  const bool shared_b = b.shape.size() == 2;
  const auto step = [](const Array& x) { return x.shape[x.shape.size() - 2] * x.shape.back(); };
  const std::int64_t products = count_of(shape) / (rows * columns);
  for (std::int64_t n = 0; n < products; ++n) {
    const double* left = a.values.data() + n * step(a);
    const double* right = b.values.data() + (shared_b ? 0 : n * step(b));
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
  Shape shape(data.shape.begin(), data.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + axis + 1, data.shape.end());
  Array out{shape, {}};
  for_each(shape, [&](const Shape& index) {
    const Shape which(index.begin() + axis, index.begin() + axis + static_cast<std::int64_t>(indices.shape.size()));
    Shape place(index.begin(), index.begin() + axis);
    place.push_back(static_cast<std::int64_t>(at(indices, which)));
    place.insert(place.end(), index.begin() + static_cast<std::int64_t>(split + indices.shape.size()), index.end());
    out.values.push_back(at(data, place));
  });
  return out;
}

// Applies `op` to each row of the last dimension.
Array by_row(Array x, const std::function<void(std::span<double>)>& op) {
  const auto width = static_cast<std::size_t>(x.shape.back());
  for (std::size_t i = 0; i < x.values.size(); i += width)
    op(std::span(x.values).subspan(i, width));
  return x;
}

Array reduce(const Array& x, const Node& node) {
  Shape kept = x.shape;
  for (const std::int64_t axis : node.axes)
    kept[static_cast<std::size_t>(axis)] = 1;
  const bool max = node.op == Operator::kReduceMax;
  Array out{kept, std::vector<double>(static_cast<std::size_t>(count_of(kept)), max ? -1e300 : 0.0)};
  const Shape strides = strides_of(kept);
  for_each(x.shape, [&](const Shape& index) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
      offset += kept[i] == 1 ? 0 : index[i] * strides[i];
    double& slot = out.values[static_cast<std::size_t>(offset)];
    const double value = at(x, index);
    slot = max ? std::max(slot, value) : slot + (node.op == Operator::kReduceL2 ? value * value : value);
  });
  if (node.op == Operator::kReduceL2) {
    for (double& value : out.values)
      value = std::sqrt(value);
  }
  if (!node.keep_dimensions) {
    for (auto axis = node.axes.rbegin(); axis != node.axes.rend(); ++axis)
      out.shape.erase(out.shape.begin() + *axis);
  }
  return out;
}

Array map(Array x, const std::function<double(double)>& op) {
  std::ranges::transform(x.values, x.values.begin(), op);
  return x;
}

Array reshape(Array x, const std::vector<std::int64_t>& wanted) {
  Shape shape = wanted;
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
  Shape shape;
  for (const std::int64_t axis : permutation)
    shape.push_back(x.shape[static_cast<std::size_t>(axis)]);
  Array out{shape, {}};
  for_each(shape, [&](const Shape& index) {
    Shape from(index.size());
    for (std::size_t i = 0; i < index.size(); ++i)
      from[static_cast<std::size_t>(permutation[i])] = index[i];
    out.values.push_back(at(x, from));
  });
  return out;
}

Array layer_norm(const Array& x, const Array& weight, const Array& bias, double epsilon) {
  const Array centred = by_row(x, [&](std::span<double> row) {
    const auto width = static_cast<double>(row.size());
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / width;
    double variance = 0;
    for (double& value : row) {
      value -= mean;
      variance += value * value / width;
    }
    for (double& value : row)
      value /= std::sqrt(variance + epsilon);
  });
  return binary(binary(centred, weight, std::multiplies<>()), bias, std::plus<>());
}

Array compute(const Node& node, const std::function<const Array&(std::size_t)>& in) {
  switch (node.op) {
    case Operator::kInput:
      throw std::logic_error("an input that nobody gave");
    case Operator::kWeight:
    case Operator::kConstant:
      return read(node);
    case Operator::kConvert:
      return in(0);
    case Operator::kGather:
      return gather(in(0), in(1), node.axis);
    case Operator::kGatherRow: {
      const Array& data = in(0);
      Array out{{data.shape[0], data.shape[2]}, {}};
      for_each(out.shape, [&](const Shape& index) {
        const auto row = static_cast<std::int64_t>(at(in(1), {index[0], 0}));
        out.values.push_back(at(data, {index[0], row, index[1]}));
      });
      return out;
    }
    case Operator::kFirstRows: {
      Array out = in(0);
      out.shape[0] = in(1).shape[1];
      out.values.resize(static_cast<std::size_t>(count_of(out.shape)));
      return out;
    }
    case Operator::kAdd:
      return binary(in(0), in(1), std::plus<>());
    case Operator::kSubtract:
      return binary(in(0), in(1), std::minus<>());
    case Operator::kMultiply:
      return binary(in(0), in(1), std::multiplies<>());
    case Operator::kDivide:
      return binary(in(0), in(1), std::divides<>());
    case Operator::kMaximum:
      return binary(in(0), in(1), [](double a, double b) { return std::max(a, b); });
    case Operator::kMatMul:
      return matmul(in(0), in(1), node.transpose_b);
    case Operator::kReshape:
      return reshape(in(0), node.axes);
    case Operator::kTranspose:
      return transpose(in(0), node.axes);
    case Operator::kUnsqueeze: {
      Array out = in(0);
      for (const std::int64_t axis : node.axes)
        out.shape.insert(out.shape.begin() + axis, 1);
      return out;
    }
    case Operator::kSqueeze: {
      Array out = in(0);
      for (const std::int64_t axis : node.axes)
        out.shape.erase(out.shape.begin() + axis);
      return out;
    }
    case Operator::kSoftmax:
      return by_row(in(0), [](std::span<double> row) {
        const double largest = *std::ranges::max_element(row);
        double sum = 0;
        for (double& value : row)
          sum += value = std::exp(value - largest);
        for (double& value : row)
          value /= sum;
      });
    case Operator::kLayerNorm:
      return layer_norm(in(0), in(1), in(2), node.epsilon);
    case Operator::kGeluErf:
      return map(in(0), [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); });
    case Operator::kGeluTanh:
      return map(in(0),
                 [](double x) { return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))); });
    case Operator::kRelu:
      return map(in(0), [](double x) { return std::max(x, 0.0); });
    case Operator::kReduceSum:
    case Operator::kReduceMax:
    case Operator::kReduceL2:
      return reduce(in(0), node);
  }
  throw std::logic_error("an unknown operator");
}

}  // namespace

Array evaluate(const Graph& graph, const Array& input_ids, const Array& attention_mask) {
  std::vector<Array> values;
  for (const Node& node : graph.nodes()) {
    if (node.op == Operator::kInput) {
      values.push_back(node.name == "input_ids" ? input_ids : attention_mask);
      continue;
    }
    values.push_back(compute(node, [&](std::size_t i) -> const Array& { return values[node.inputs.at(i).node]; }));
  }
  return values[graph.output().node];
}

}  // namespace latebind::embedding::testing

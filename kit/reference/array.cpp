#include "kit/reference/array.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace latebind::kit {
namespace {

using core::ElementType;

double half(std::uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = bits >> 10U & 0x1fU;
  const int fraction = bits & 0x3ffU;
  if (exponent == 31) return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(fraction + 1024, exponent - 25);
}

template <class T>
T load(std::span<const std::byte> bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

}  // namespace

std::int64_t count_of(const Dims& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Array read_array(ElementType type, const core::Shape& shape, std::span<const std::byte> bytes) {
  Array array{{shape.dims().begin(), shape.dims().end()}, {}};
  const auto count = static_cast<std::size_t>(count_of(array.shape));
  for (std::size_t i = 0; i < count; ++i) {
    switch (type) {
      case ElementType::kF32:
        array.values.push_back(load<float>(bytes, i));
        break;
      case ElementType::kI64:
        array.values.push_back(static_cast<double>(load<std::int64_t>(bytes, i)));
        break;
      case ElementType::kF16:
        array.values.push_back(half(load<std::uint16_t>(bytes, i)));
        break;
      case ElementType::kBF16:
        array.values.push_back(std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(bytes, i)} << 16U));
        break;
      default:
        throw std::logic_error("a weight of an unexpected type");
    }
  }
  return array;
}

void for_each(const Dims& shape, const std::function<void(const Dims&)>& visit) {
  Dims index(shape.size(), 0);
  for (std::int64_t n = count_of(shape); n > 0; --n) {
    visit(index);
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
}

double at(const Array& array, const Dims& index) {
  const std::size_t skip = index.size() - array.shape.size();
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < array.shape.size(); ++i)
    offset = offset * array.shape[i] + (array.shape[i] == 1 ? 0 : index[skip + i]);
  return array.values.at(static_cast<std::size_t>(offset));
}

Array map(Array x, const std::function<double(double)>& op) {
  std::ranges::transform(x.values, x.values.begin(), op);
  return x;
}

Array binary(const Array& a, const Array& b, const std::function<double(double, double)>& op) {
  Dims shape = a.shape.size() >= b.shape.size() ? a.shape : b.shape;
  const Dims& other = a.shape.size() >= b.shape.size() ? b.shape : a.shape;
  for (std::size_t i = 0; i < other.size(); ++i) {
    auto& dim = shape[shape.size() - other.size() + i];
    if (dim != other[i] && dim != 1 && other[i] != 1) throw std::logic_error("shapes that do not broadcast");
    dim = std::max(dim, other[i]);
  }
  Array out{shape, {}};
  for_each(shape, [&](const Dims& index) { out.values.push_back(op(at(a, index), at(b, index))); });
  return out;
}

Array by_row(Array x, const std::function<void(std::span<double>)>& op) {
  const auto width = static_cast<std::size_t>(x.shape.back());
  for (std::size_t i = 0; i < x.values.size(); i += width)
    op(std::span(x.values).subspan(i, width));
  return x;
}

void softmax(std::span<double> row) {
  const double largest = *std::ranges::max_element(row);
  double sum = 0;
  for (double& value : row)
    sum += value = std::exp(value - largest);
  for (double& value : row)
    value /= sum;
}

void keep_largest(std::span<double> row, std::size_t count) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  for (std::size_t i = count; i < order.size(); ++i)
    row[order[i]] = 0;
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

}  // namespace latebind::kit

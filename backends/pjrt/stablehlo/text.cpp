#include "backends/pjrt/stablehlo/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace latebind::pjrt {
namespace {

bool is_float(Element element) {
  return element == Element::kF32 || element == Element::kF16 || element == Element::kBF16;
}

std::string type_of(const Dims& dims, Element element) {
  std::string text = "tensor<";
  for (const std::int64_t dim : dims)
    text += fmt::format("{}x", dim);
  text += word_of(element);
  return text + ">";
}

std::string type_of(const Tensor& x) {
  return type_of(x.dims, x.element);
}

template <class Numbers>
std::string array_of(const Numbers& numbers) {
  return std::empty(numbers) ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(numbers, ", "));
}

std::vector<std::size_t> without(std::size_t rank, std::size_t axis) {
  std::vector<std::size_t> places(rank);
  std::iota(places.begin(), places.end(), std::size_t{0});
  places.erase(places.begin() + static_cast<std::ptrdiff_t>(axis));
  return places;
}

Dims dims_without(const Dims& dims, std::size_t axis) {
  Dims left = dims;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(axis));
  return left;
}

std::string number_text(double value, Element element) {
  if (!is_float(element)) return fmt::format("{}", static_cast<std::int64_t>(value));
  if (std::isinf(value) && element == Element::kF32) return value < 0 ? "0xFF800000" : "0x7F800000";
  return fmt::format("{:.9e}", value);
}

}  // namespace

std::string_view word_of(Element element) {
  switch (element) {
    case Element::kBool:
      return "i1";
    case Element::kI32:
      return "i32";
    case Element::kI64:
      return "i64";
    case Element::kF16:
      return "f16";
    case Element::kBF16:
      return "bf16";
    case Element::kF32:
      break;
  }
  return "f32";
}

std::size_t size_of(Element element) {
  if (element == Element::kBool) return 1;
  if (element == Element::kI64) return 8;
  return element == Element::kF16 || element == Element::kBF16 ? 2 : 4;
}

Tensor HloText::add(std::string text, Dims dims, Element element) {
  Tensor made{fmt::format("%{}", ++count_), std::move(dims), element};
  lines_ += fmt::format("    {} = {}\n", made.name, text);
  return made;
}

Tensor HloText::generic(std::string_view op, std::span<const Tensor> operands, Dims dims, Element element,
                        std::string_view attributes) {
  std::string names;
  std::string types;
  for (const Tensor& operand : operands) {
    names += (names.empty() ? "" : ", ") + operand.name;
    types += (types.empty() ? "" : ", ") + type_of(operand);
  }
  std::string text = fmt::format("\"{}\"({}){}{}{} : ({}) -> {}", op, names, attributes.empty() ? "" : " {", attributes,
                                 attributes.empty() ? "" : "}", types, type_of(dims, element));
  return add(std::move(text), std::move(dims), element);
}

Tensor HloText::argument(Dims dims, Element element) {
  return arguments_.emplace_back(Tensor{fmt::format("%arg{}", arguments_.size()), std::move(dims), element});
}

Tensor HloText::constant(double value, Element element) {
  const std::pair key{std::bit_cast<std::uint64_t>(value), element};
  if (const auto known = constants_.find(key); known != constants_.end()) return known->second;
  const std::string type = type_of({}, element);
  std::string text = fmt::format("\"stablehlo.constant\"() {{value = dense<{}> : {}}} : () -> {}",
                                 number_text(value, element), type, type);
  return constants_.emplace(key, add(std::move(text), {}, element)).first->second;
}

Tensor HloText::unary(std::string_view op, const Tensor& x) {
  return generic(op, {&x, 1}, x.dims, x.element);
}

Tensor HloText::binary(std::string_view op, const Tensor& a, const Tensor& b) {
  return generic(fmt::format("stablehlo.{}", op), std::array{a, repeat(b, a.dims)}, a.dims, a.element);
}

Tensor HloText::compare(const Tensor& a, const Tensor& b, std::string_view how) {
  return generic("stablehlo.compare", std::array{a, repeat(b, a.dims)}, a.dims, Element::kBool,
                 fmt::format("comparison_direction = #stablehlo<comparison_direction {}>, compare_type = "
                             "#stablehlo<comparison_type {}>",
                             how, is_float(a.element) ? "FLOAT" : "SIGNED"));
}

Tensor HloText::select(const Tensor& which, const Tensor& a, const Tensor& b) {
  return generic("stablehlo.select", std::array{which, a, b}, a.dims, a.element);
}

Tensor HloText::select(const Tensor& which, const Tensor& a, double b) {
  return select(which, a, repeat(constant(b, a.element), a.dims));
}

Tensor HloText::convert(const Tensor& x, Element element) {
  return x.element == element ? x : generic("stablehlo.convert", {&x, 1}, x.dims, element);
}

Tensor HloText::reshape(const Tensor& x, Dims dims) {
  return x.dims == dims ? x : generic("stablehlo.reshape", {&x, 1}, std::move(dims), x.element);
}

Tensor HloText::transpose(const Tensor& x, std::initializer_list<std::size_t> order) {
  Dims dims;
  for (const std::size_t from : order)
    dims.push_back(x.dims[from]);
  return generic("stablehlo.transpose", {&x, 1}, std::move(dims), x.element,
                 fmt::format("permutation = {}", array_of(order)));
}

Tensor HloText::broadcast(const Tensor& x, const Dims& dims, std::span<const std::size_t> places) {
  if (x.dims == dims) return x;
  return generic("stablehlo.broadcast_in_dim", {&x, 1}, dims, x.element,
                 fmt::format("broadcast_dimensions = {}", array_of(places)));
}

Tensor HloText::repeat(const Tensor& x, const Dims& dims) {
  std::vector<std::size_t> places(x.rank());
  std::iota(places.begin(), places.end(), dims.size() - x.rank());
  return broadcast(x, dims, places);
}

Tensor HloText::iota(const Dims& dims, std::size_t axis, Element element) {
  return generic("stablehlo.iota", {}, dims, element, fmt::format("iota_dimension = {} : i64", axis));
}

Tensor HloText::slice(const Tensor& x, std::size_t axis, std::int64_t first, std::int64_t count) {
  if (first == 0 && count == x.dims[axis]) return x;
  Dims begin(x.rank(), 0);
  Dims end = x.dims;
  begin[axis] = first;
  end[axis] = first + count;
  Dims dims = x.dims;
  dims[axis] = count;
  return generic("stablehlo.slice", {&x, 1}, std::move(dims), x.element,
                 fmt::format("start_indices = {}, limit_indices = {}, strides = {}", array_of(begin), array_of(end),
                             array_of(Dims(x.rank(), 1))));
}

Tensor HloText::concatenate(const Tensor& a, const Tensor& b, std::size_t axis) {
  Dims dims = a.dims;
  dims[axis] += b.dims[axis];
  return generic("stablehlo.concatenate", std::array{a, b}, std::move(dims), a.element,
                 fmt::format("dimension = {} : i64", axis));
}

Tensor HloText::pad(const Tensor& x, std::size_t axis, std::int64_t before, std::int64_t after) {
  if (before == 0 && after == 0) return x;
  Dims low(x.rank(), 0);
  Dims high(x.rank(), 0);
  low[axis] = before;
  high[axis] = after;
  Dims dims = x.dims;
  dims[axis] += before + after;
  return generic("stablehlo.pad", std::array{x, constant(0, x.element)}, std::move(dims), x.element,
                 fmt::format("edge_padding_low = {}, edge_padding_high = {}, interior_padding = {}", array_of(low),
                             array_of(high), array_of(Dims(x.rank(), 0))));
}

Tensor HloText::reduce(const Tensor& x, std::string_view how, double start, std::size_t axis) {
  const Tensor first = constant(start, x.element);
  Dims dims = dims_without(x.dims, axis);
  const std::string one = type_of({}, x.element);
  std::string text = fmt::format(
      "\"stablehlo.reduce\"({}, {}) ({{\n      ^bb0(%a: {}, %b: {}):\n        %r = \"stablehlo.{}\"(%a, %b) : ({}, {}) "
      "-> {}\n        \"stablehlo.return\"(%r) : ({}) -> ()\n    }}) {{dimensions = array<i64: {}>}} : ({}, {}) -> {}",
      x.name, first.name, one, one, how, one, one, one, one, axis, type_of(x), one, type_of(dims, x.element));
  return add(std::move(text), std::move(dims), x.element);
}

Tensor HloText::sum(const Tensor& x, std::size_t axis) {
  return reduce(x, "add", 0, axis);
}

Tensor HloText::maximum(const Tensor& x, std::size_t axis) {
  return reduce(x, "maximum", -std::numeric_limits<double>::infinity(), axis);
}

Tensor HloText::along(const Tensor& x, const Dims& dims, std::size_t axis) {
  // A dimension of 1 makes the shapes equal in size, but not in rank.
  return broadcast(x, dims, without(dims.size(), axis));
}

Tensor HloText::rows(const Tensor& table, const Tensor& numbers) {
  Dims dims = numbers.dims;
  dims.push_back(table.dims[1]);
  const std::size_t last = numbers.rank();
  return generic("stablehlo.gather", std::array{table, numbers}, std::move(dims), table.element,
                 fmt::format("dimension_numbers = #stablehlo.gather<offset_dims = [{}], collapsed_slice_dims = [0], "
                             "start_index_map = [0], index_vector_dim = {}>, slice_sizes = array<i64: 1, {}>, "
                             "indices_are_sorted = false",
                             last, last, table.dims[1]));
}

Tensor HloText::dot(const Tensor& a, const DotDims& of_a, const Tensor& b, const DotDims& of_b, Element result) {
  Dims dims;
  for (const std::size_t axis : of_a.batched)
    dims.push_back(a.dims[axis]);
  const auto add_free = [&](const Tensor& x, const DotDims& of_x) {
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      if (std::ranges::find(of_x.contracted, axis) == of_x.contracted.end() &&
          std::ranges::find(of_x.batched, axis) == of_x.batched.end())
        dims.push_back(x.dims[axis]);
    }
  };
  add_free(a, of_a);
  add_free(b, of_b);
  return generic(
      "stablehlo.dot_general", std::array{a, b}, std::move(dims), result,
      fmt::format("dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [{}], "
                  "rhs_batching_dimensions = [{}], lhs_contracting_dimensions = [{}], "
                  "rhs_contracting_dimensions = [{}]>, precision_config = [#stablehlo<precision {}>, "
                  "#stablehlo<precision {}>]",
                  fmt::join(of_a.batched, ", "), fmt::join(of_b.batched, ", "), fmt::join(of_a.contracted, ", "),
                  fmt::join(of_b.contracted, ", "), precision_, precision_));
}

std::string HloText::finish(std::span<const Tensor> results) const {
  std::string arguments;
  for (const Tensor& argument : arguments_)
    arguments += fmt::format("{}{}: {}", arguments.empty() ? "" : ", ", argument.name, type_of(argument));
  std::string names;
  std::string types;
  for (const Tensor& result : results) {
    names += (names.empty() ? "" : ", ") + result.name;
    types += (types.empty() ? "" : ", ") + type_of(result);
  }
  return fmt::format(
      "module @latebind {{\n  func.func public @main({}) -> ({}) {{\n{}    \"func.return\"({}) : ({}) -> ()\n  "
      "}}\n}}\n",
      arguments, types, lines_, names, types);
}

}  // namespace latebind::pjrt

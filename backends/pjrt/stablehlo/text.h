// HloText: writes one function of StableHLO as text, operation by operation, in the generic form that all versions of
// the parser read.
//
// Shapes are static. A Tensor is a value of the function that is being written. The functions do not check shapes: the
// writer of a network knows them. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace latebind::pjrt {

enum class Element : std::uint8_t { kBool, kI32, kI64, kF16, kBF16, kF32 };

// Returns StableHLO's word: "f32".
[[nodiscard]] std::string_view word_of(Element element);
// The bytes of one element in memory.
[[nodiscard]] std::size_t size_of(Element element);

using Dims = std::vector<std::int64_t>;

struct Tensor {
  std::string name;
  Dims dims;
  Element element = Element::kF32;

  [[nodiscard]] std::size_t rank() const { return dims.size(); }
  // The number of the last dimension; requires a rank above 0.
  [[nodiscard]] std::size_t last() const { return dims.size() - 1; }
};

class HloText {
 public:
  // How exactly products of f32 are computed.
  explicit HloText(bool highest_precision) : precision_(highest_precision ? "HIGHEST" : "DEFAULT") {}

  // Adds an argument of the function.
  Tensor argument(Dims dims, Element element);
  // A number as a tensor of rank 0.
  Tensor constant(double value, Element element);

  Tensor unary(std::string_view op, const Tensor& x);
  // The shapes are equal, or `b` has the last dimensions of `a`.
  Tensor binary(std::string_view op, const Tensor& a, const Tensor& b);
  Tensor binary(std::string_view op, const Tensor& a, double b) { return binary(op, a, constant(b, a.element)); }
  // `how` is EQ, NE, GE, LE …; b as in binary().
  Tensor compare(const Tensor& a, const Tensor& b, std::string_view how);
  Tensor compare(const Tensor& a, double b, std::string_view how) { return compare(a, constant(b, a.element), how); }
  Tensor select(const Tensor& which, const Tensor& a, const Tensor& b);
  // b where `which` is false.
  Tensor select(const Tensor& which, const Tensor& a, double b);
  Tensor convert(const Tensor& x, Element element);
  Tensor reshape(const Tensor& x, Dims dims);
  Tensor transpose(const Tensor& x, std::initializer_list<std::size_t> order);
  // x, whose dimension i becomes dimension places[i] of the result.
  Tensor broadcast(const Tensor& x, const Dims& dims, std::span<const std::size_t> places);
  Tensor broadcast(const Tensor& x, const Dims& dims, std::initializer_list<std::size_t> places) {
    return broadcast(x, dims, std::span(places.begin(), places.size()));
  }
  // x as the last dimensions of `dims`.
  Tensor repeat(const Tensor& x, const Dims& dims);
  // The numbers from 0 along one dimension.
  Tensor iota(const Dims& dims, std::size_t axis, Element element);
  // `count` elements of one dimension.
  Tensor slice(const Tensor& x, std::size_t axis, std::int64_t first, std::int64_t count);
  Tensor concatenate(const Tensor& a, const Tensor& b, std::size_t axis);
  // Adds `before` and `after` zeros along one dimension.
  Tensor pad(const Tensor& x, std::size_t axis, std::int64_t before, std::int64_t after);
  // The sum or the maximum along one dimension, which is left out.
  Tensor sum(const Tensor& x, std::size_t axis);
  Tensor maximum(const Tensor& x, std::size_t axis);
  // x, from which `axis` was left out, along that dimension of `dims`.
  Tensor along(const Tensor& x, const Dims& dims, std::size_t axis);
  // The rows of `table` [N,H] with these numbers -> [.., H].
  Tensor rows(const Tensor& table, const Tensor& numbers);

  struct DotDims {
    std::vector<std::size_t> contracted;
    std::vector<std::size_t> batched{};
  };
  // The sums over products: dimensions of the result are the batched ones, then the free ones of a, then those of b.
  Tensor dot(const Tensor& a, const DotDims& of_a, const Tensor& b, const DotDims& of_b, Element result);

  // Returns the module with these results.
  [[nodiscard]] std::string finish(std::span<const Tensor> results) const;

 private:
  Tensor add(std::string text, Dims dims, Element element);
  Tensor generic(std::string_view op, std::span<const Tensor> operands, Dims dims, Element element,
                 std::string_view attributes = "");
  Tensor reduce(const Tensor& x, std::string_view how, double start, std::size_t axis);

  const char* precision_;
  std::vector<Tensor> arguments_;
  std::size_t count_ = 0;
  std::string lines_;
  std::map<std::pair<std::uint64_t, Element>, Tensor> constants_;
};

}  // namespace latebind::pjrt

#include "backends/native/probe.h"

#include <algorithm>
#include <cstddef>

#include "backends/native/memory/buffer.h"

namespace latebind::native {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRows = 64;
constexpr std::size_t kInner = 384;
constexpr std::size_t kColumns = 1536;
constexpr double kOperations = 2.0 * kRows * kInner * kColumns;

Buffer filled(std::size_t size, float value) {
  Buffer buffer(size);
  std::fill_n(buffer.data(), size, value);
  return buffer;
}

// The matrices of one precision. Their values do not influence the time of a product.
class Contender {
 public:
  Contender(const Kernels& kernels, const ProbedProduct& probed)
      : product_(*probed.product),
        precision_(probed.precision),
        panels_(panel_count(kColumns, kernels)),
        x_(filled(kRows * kInner, 0.5F)),
        operand_(filled(kRows * product_.operand_words(kInner), 0.0F)),
        weights_(filled(panels_ * kernels.panel_columns * product_.operand_words(kInner), 0.0F)),
        y_(filled(kRows * panels_ * kernels.panel_columns, 0.0F)),
        y_stride_(panels_ * kernels.panel_columns) {}

  void run() {
    const auto start = Clock::now();
    Rows a{x_.data(), kRows, kInner};
    if (product_.convert != nullptr) {
      const std::size_t words = product_.operand_words(kInner);
      product_.convert(a, kInner, {operand_.data(), kRows, words});
      a = {operand_.data(), kRows, words};
    }
    product_.multiply(a, {weights_.data(), kInner, kColumns}, 0, panels_, nullptr, {y_.data(), kRows, y_stride_});
    best_ = std::min(best_, std::chrono::duration<double>(Clock::now() - start).count());
  }

  [[nodiscard]] core::PrecisionSpeed speed() const { return {precision_, kOperations / std::max(best_, 1e-9) / 1e9}; }

 private:
  const Product& product_;
  const core::Precision precision_;
  const std::size_t panels_;
  Buffer x_;
  Buffer operand_;
  Buffer weights_;
  Buffer y_;
  const std::size_t y_stride_;
  double best_ = 1e9;  // seconds
};

}  // namespace

std::vector<core::PrecisionSpeed> probe_products(const Kernels& kernels, std::span<const ProbedProduct> products,
                                                 std::chrono::milliseconds time) {
  std::vector<Contender> contenders;
  contenders.reserve(products.size());
  for (const ProbedProduct& probed : products)
    contenders.emplace_back(kernels, probed);
  const auto end = Clock::now() + time;
  do {
    for (Contender& one : contenders)
      one.run();
  } while (Clock::now() < end);
  std::vector<core::PrecisionSpeed> speeds;
  for (const Contender& one : contenders)
    speeds.push_back(one.speed());
  return speeds;
}

}  // namespace latebind::native

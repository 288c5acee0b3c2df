// PrometheusText renders metric families in Prometheus' text format 0.0.4.
//
// Families are written one after the other: family(), then its samples. Label values may contain any bytes; names and
// help texts are trusted. Not thread-safe.
//
// Source: Prometheus documentation, "Exposition formats", text-based format 0.0.4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace latebind::server {

// Counts values by bucket. The bounds are constant and ascending, and must outlive the histogram.
class Histogram {
 public:
  static constexpr std::size_t kBoundsMax = 20;

  // `bounds` has at most kBoundsMax elements.
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds) {}

  void add(double value, std::uint64_t times = 1) noexcept;

  [[nodiscard]] std::span<const double> bounds() const { return bounds_; }
  // The number of values in (bounds()[i - 1], bounds()[i]]. The last bucket has those above all bounds.
  [[nodiscard]] std::uint64_t in_bucket(std::size_t i) const { return counts_[i]; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] double sum() const { return sum_; }

 private:
  std::span<const double> bounds_;
  std::array<std::uint64_t, kBoundsMax + 1> counts_{};
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

class PrometheusText {
 public:
  struct Label {
    std::string_view name;
    std::string_view value;
  };
  using Labels = std::initializer_list<Label>;

  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(std::uint64_t value, Labels labels = {});
  void sample(double value, Labels labels = {});

  // Writes a family of one sample, or of one histogram.
  void counter(std::string_view name, std::string_view help, std::uint64_t value);
  void gauge(std::string_view name, std::string_view help, std::uint64_t value);
  void gauge(std::string_view name, std::string_view help, double value);
  void histogram(std::string_view name, std::string_view help, const Histogram& histogram);

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void begin_sample(std::string_view suffix, Labels labels);

  std::string name_;  // of the family
  std::string text_;
};

}  // namespace latebind::server

// PrometheusText: metric families as text, in Prometheus' format 0.0.4.
//
// Families are written one after the other: family(), then its samples. Label values may hold any bytes; names and help
// are ours. Not thread-safe.
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

// How often values up to each of some bounds were seen. The bounds are constant, ascend and outlive it.
class Histogram {
 public:
  static constexpr std::size_t kBoundsMax = 20;

  // At most kBoundsMax.
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds) {}

  void add(double value, std::uint64_t times = 1) noexcept;

  [[nodiscard]] std::span<const double> bounds() const { return bounds_; }
  // Of the values above bounds()[i - 1] up to bounds()[i]; the last one: above all of them.
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

  // Families of one sample, or of one histogram.
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

// ReadyShapes: the shapes of batches that a device has ready, if it prepares state for each shape and keeps it for the
// most recently used ones (core::ActiveConfig::kept_shapes).
//
// A model of the vendor's cache, whose content cannot be queried. Allocates no memory. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace latebind::embedding {

struct ReadyShape {
  std::size_t rows = 0;
  std::size_t width = 0;
  bool operator==(const ReadyShape&) const = default;
};

class ReadyShapes {
 public:
  static constexpr std::size_t kMost = 128;

  // Sets the number of shapes that the device keeps, and forgets the least recently used ones. 0 if the device prepares
  // nothing for a shape.
  void keep(std::size_t count) noexcept {
    kept_ = std::min(count, kMost);
    if (count_ > kept_) {
      std::shift_left(shapes_.begin(), shapes_.begin() + static_cast<std::ptrdiff_t>(count_),
                      static_cast<std::ptrdiff_t>(count_ - kept_));
      count_ = kept_;
    }
  }
  // Records that a batch of this shape runs.
  void use(ReadyShape shape) noexcept {
    if (kept_ == 0) return;
    const auto end = shapes_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (const auto found = std::find(shapes_.begin(), end, shape); found != end) {
      std::rotate(found, found + 1, end);
    } else if (count_ < kept_) {
      shapes_[count_++] = shape;
    } else {
      std::shift_left(shapes_.begin(), end, 1);
      shapes_[count_ - 1] = shape;
    }
  }
  [[nodiscard]] bool matters() const noexcept { return kept_ > 0; }
  // All ready shapes; the most recently used one is last.
  [[nodiscard]] std::span<const ReadyShape> all() const noexcept { return {shapes_.data(), count_}; }
  [[nodiscard]] bool has(ReadyShape shape) const noexcept { return std::ranges::find(all(), shape) != all().end(); }

 private:
  std::array<ReadyShape, kMost> shapes_{};
  std::size_t count_ = 0;
  std::size_t kept_ = 0;
};

}  // namespace latebind::embedding

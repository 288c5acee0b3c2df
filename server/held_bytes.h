// HeldBytes limits the memory that request bodies and answers take on all connections together.
//
// Thread-safe. A Share is for one thread at a time and may outlive its creator, because work in progress does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace latebind::server {

class HeldBytes {
 public:
  explicit HeldBytes(std::uint64_t most) : most_(most) {}
  HeldBytes(const HeldBytes&) = delete;
  HeldBytes& operator=(const HeldBytes&) = delete;

  [[nodiscard]] std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t most() const { return most_; }

  // What one request or answer holds. Released on destruction.
  class Share {
   public:
    // A share without a limit.
    Share() = default;
    explicit Share(std::shared_ptr<HeldBytes> of) : of_(std::move(of)) {}
    Share(Share&& other) noexcept : of_(std::move(other.of_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Share& operator=(Share&& other) noexcept {
      set(0);
      of_ = std::move(other.of_);
      bytes_ = std::exchange(other.bytes_, 0);
      return *this;
    }
    ~Share() { set(0); }

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    // The limit for all shares together; std::nullopt without a limit.
    [[nodiscard]] std::optional<std::uint64_t> most() const {
      return of_ != nullptr ? std::optional(of_->most_) : std::nullopt;
    }
    // Sets the size regardless of the limit.
    void set(std::uint64_t bytes) noexcept {
      // Unsigned arithmetic: a negative difference wraps, and so does the sum.
      if (of_ != nullptr) of_->used_.fetch_add(bytes - bytes_, std::memory_order_relaxed);
      bytes_ = bytes;
    }
    // Returns false and changes nothing if all shares together would exceed the limit. Shrinking always succeeds.
    [[nodiscard]] bool try_set(std::uint64_t bytes) noexcept {
      const std::uint64_t before = bytes_;
      set(bytes);
      if (of_ == nullptr || bytes <= before || of_->used() <= of_->most_) return true;
      set(before);
      return false;
    }

   private:
    std::shared_ptr<HeldBytes> of_;
    std::uint64_t bytes_ = 0;
  };

 private:
  const std::uint64_t most_;
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace latebind::server

// Nesting: how deep a parser or a rendering is, and how deep it may become. For one thread.
#pragma once

#include <cstddef>

namespace latebind::templates {

class Nesting {
 public:
  explicit Nesting(std::size_t depth_max) : depth_max_(depth_max) {}

  [[nodiscard]] std::size_t depth_max() const { return depth_max_; }
  [[nodiscard]] bool allows(std::size_t depth) const { return depth <= depth_max_; }
  [[nodiscard]] bool is_too_deep() const { return !allows(depth_); }

  // Adds one level while it exists.
  class Level {
   public:
    explicit Level(Nesting& nesting) : nesting_(nesting) { ++nesting_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --nesting_.depth_; }

   private:
    Nesting& nesting_;
  };

 private:
  std::size_t depth_max_;
  std::size_t depth_ = 0;
};

}  // namespace latebind::templates

#include "app/shape_text.h"

#include <gtest/gtest.h>

#include <string>

namespace latebind::app {
namespace {

using core::Shape;

TEST(ShapeTextTest, ReadsShapes) {
  EXPECT_EQ(*parse_shape("--shape", "1x128"), (Shape{1, 128}));
  EXPECT_EQ(parse_shape("--shape", "scalar")->rank(), 0U);
  for (const auto* bad : {"", "x", "1x", "1xx2", "-1", "1x?", "1x2x3x4x5x6x7x8x9", "99999999999999999999"}) {
    EXPECT_FALSE(parse_shape("--shape", bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace latebind::app

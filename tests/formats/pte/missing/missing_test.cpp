#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/pte/reader.h"
#include "formats/pte/writer.h"

namespace latebind::pte {
namespace {

TEST(PteMissingTest, SaysWhatTheBuildLacks) {
  EXPECT_FALSE(is_built_in());
  const auto written = program_bytes({}, "payload");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.status().code(), core::StatusCode::kUnsupported);
  EXPECT_THAT(written.status().message(), testing::HasSubstr("scripts/setup executorch"));
  EXPECT_EQ(read_program({}).status().code(), core::StatusCode::kUnsupported);
}

}  // namespace
}  // namespace latebind::pte

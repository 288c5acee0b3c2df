// A file of weights that is cut while it is opened: Windows lets nobody cut one that is mapped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "core/tensor/shared_bytes.h"
#include "embedding/weights/safetensors.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

TEST(SafetensorsFileTest, OneThatIsCutWhileItIsOpenedIsAnError) {
  const auto file = std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/tiny-bert/f32/model.safetensors";
  const testing::ScratchFolder scratch;
  const auto copy = scratch.path() / "weights";
  // Within the length of the header, within the header.
  for (const std::uintmax_t left : {0U, 3U, 100U}) {
    std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
    auto part = core::FilePart::open(copy);
    ASSERT_TRUE(part.ok()) << part.status().to_string();
    std::filesystem::resize_file(copy, left);
    const auto cut = Safetensors::from_part(*std::move(part), "weights").status();
    EXPECT_EQ(cut.code(), core::StatusCode::kIo);
    EXPECT_THAT(cut.to_string(), ::testing::HasSubstr("was truncated while it was in use"));
    std::filesystem::remove(copy);
  }
}

}  // namespace
}  // namespace latebind::embedding

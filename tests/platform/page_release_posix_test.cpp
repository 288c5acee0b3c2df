#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "core/platform/files/mapped_file.h"
#include "core/platform/files/page_release.h"
#include "core/platform/system_info.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using testing::ScratchFolder;

constexpr std::size_t kRegionBytes = std::size_t{32} << 20;
// What else happens to the memory of a process, generously.
constexpr std::size_t kNoise = std::size_t{8} << 20;

class PageReleaseTest : public ::testing::Test {
 protected:
  PageReleaseTest() { testing::write_file(folder_ / "file", std::string(kRegionBytes, 'x')); }

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "file"; }

 private:
  ScratchFolder folder_;
};

// Reads all of it.
bool is_all_x(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{'x'}; });
}

// A private mapping of the file.
struct Mapping {
  Mapping(const std::filesystem::path& file, std::size_t size) : length(size) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    start = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE, descriptor, 0);
    ::close(descriptor);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ::munmap(start, length); }

  [[nodiscard]] bool is_there() const { return start != MAP_FAILED; }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(start); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data(), length}; }
  void make_read_only() const { ::mprotect(start, length, PROT_READ); }

  void* start;
  std::size_t length;
};

TEST_F(PageReleaseTest, GivesBackWhatWasReadAndLosesNothing) {
  const auto mapped = MappedFile::open(file());
  ASSERT_TRUE(mapped.ok()) << mapped.status().to_string();
  EXPECT_TRUE(is_all_x(mapped->bytes()));
  const auto full = resident_bytes();
  EXPECT_EQ(release_pages(mapped->bytes()), kRegionBytes);
  EXPECT_LT(resident_bytes(), full - kRegionBytes + kNoise);
  EXPECT_TRUE(is_all_x(mapped->bytes()));
}

TEST_F(PageReleaseTest, TakesAPartThatBeginsWithinAPage) {
  const auto mapped = MappedFile::open(file());
  ASSERT_TRUE(mapped.ok()) << mapped.status().to_string();
  EXPECT_TRUE(is_all_x(mapped->bytes()));
  const auto full = resident_bytes();
  EXPECT_EQ(release_pages(mapped->bytes().subspan(100, kRegionBytes - 5000)), kRegionBytes - 5000);
  EXPECT_LT(resident_bytes(), full - kRegionBytes + kNoise);
  EXPECT_EQ(release_pages(mapped->bytes().subspan(100, 10)), 10U);
  EXPECT_TRUE(is_all_x(mapped->bytes()));
}

TEST_F(PageReleaseTest, GivesBackOnlyThePartThatIsNamed) {
  const auto mapped = MappedFile::open(file());
  ASSERT_TRUE(mapped.ok()) << mapped.status().to_string();
  const auto bytes = mapped->bytes();
  EXPECT_TRUE(is_all_x(bytes));
  const FilePages pages(bytes.subspan(0, kRegionBytes - 1));
  EXPECT_EQ(pages.size(), kRegionBytes - 1);
  const auto full = resident_bytes();
  const std::size_t half = kRegionBytes / 2;
  pages.release(bytes.subspan(half + 1));
  EXPECT_LT(resident_bytes(), full - half + kNoise);
  EXPECT_GT(resident_bytes() + kNoise, full - half);
  // Bytes of others, and none.
  const std::string memory(kRegionBytes, 'x');
  const auto other = std::as_bytes(std::span(memory));
  pages.release(other);
  pages.release({});
  EXPECT_TRUE(is_all_x(other));
  EXPECT_TRUE(is_all_x(bytes));
}

TEST_F(PageReleaseTest, GivesBackWhileSomebodyReads) {
  const auto mapped = MappedFile::open(file());
  ASSERT_TRUE(mapped.ok()) << mapped.status().to_string();
  // Once without it: a sanitizer has memory of its own for what is read.
  EXPECT_TRUE(is_all_x(mapped->bytes()));
  const auto full = resident_bytes();
  const PageRelease release(mapped->bytes());
  EXPECT_TRUE(is_all_x(mapped->bytes()));
  // What was read last goes with the next period.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (resident_bytes() + kRegionBytes > full + kNoise && std::chrono::steady_clock::now() < patience)
    std::this_thread::yield();
  EXPECT_LE(resident_bytes() + kRegionBytes, full + kNoise);
}

TEST_F(PageReleaseTest, LeavesMemoryAlone) {
  const std::string memory(kRegionBytes, 'x');
  const auto bytes = std::as_bytes(std::span(memory));
  EXPECT_EQ(release_pages(bytes), 0U);
  { const PageRelease release(bytes); }
  EXPECT_TRUE(is_all_x(bytes));
}

TEST_F(PageReleaseTest, LeavesAMappingThatMayBeWrittenTo) {
  const Mapping mapping(file(), kRegionBytes);
  ASSERT_TRUE(mapping.is_there());
  EXPECT_EQ(release_pages(mapping.bytes()), 0U);
}

TEST_F(PageReleaseTest, LeavesAMappingThatWasWrittenTo) {
  const Mapping mapping(file(), kRegionBytes);
  ASSERT_TRUE(mapping.is_there());
  std::byte& one = mapping.data()[kRegionBytes / 2];
  one = std::byte{'y'};
  mapping.make_read_only();
  EXPECT_EQ(release_pages(mapping.bytes()), 0U);
  EXPECT_EQ(one, std::byte{'y'});
}

TEST_F(PageReleaseTest, TakesWhatIsAMappingAndLeavesTheMemoryBehindIt) {
  const Mapping mapping(file(), kRegionBytes);
  ASSERT_TRUE(mapping.is_there());
  const std::size_t half = kRegionBytes / 2;
  void* const second = mapping.data() + half;
  ASSERT_EQ(::mmap(second, half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), second);
  std::fill_n(mapping.data() + half, half, std::byte{'x'});
  mapping.make_read_only();
  EXPECT_EQ(release_pages(mapping.bytes()), half);
  EXPECT_EQ(release_pages(mapping.bytes().subspan(half - 1, 2)), 1U);
  EXPECT_TRUE(is_all_x(mapping.bytes()));
  // Nothing in its place.
  ASSERT_EQ(::munmap(second, half), 0);
  EXPECT_EQ(release_pages(mapping.bytes()), half);
}

}  // namespace
}  // namespace latebind::platform

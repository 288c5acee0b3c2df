// What a model takes in memory while it is loaded.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "core/platform/system_info.h"
#include "core/shared_bytes.h"
#include "support.h"
#include "tests/platform/support.h"

namespace latebind::native {
namespace {

// What else happens to the memory of a process, generously.
constexpr std::uint64_t kNoise = std::uint64_t{16} << 20;

// Weights of zeros in a file, which takes no time to write and is never in memory as a whole.
class FileOfZeros {
 public:
  explicit FileOfZeros(std::filesystem::path file) : file_(std::move(file)) {}

  graph::Weight add(std::string name, core::ElementType type, const core::Shape& shape) {
    graph::Weight weight{.name = std::move(name), .type = type, .shape = shape, .offset = size_};
    size_ += *shape.element_count() * core::size_of(type);
    return weight;
  }
  [[nodiscard]] core::FilePart part() const {
    std::ofstream(file_).close();
    std::filesystem::resize_file(file_, size_);
    return *core::FilePart::open(file_);
  }

 private:
  std::filesystem::path file_;
  std::uint64_t size_ = 0;
};

TEST(NativeMemoryTest, TheFileAndWhatIsMadeOfItAreNeverInMemoryTogether) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer has several bytes of its own for each of the program's";
#endif
  const platform::testing::ScratchFolder folder;
  const testing::EncoderShape shape{.hidden = 512, .heads = 8, .intermediate = 2048, .layers = 6};
  auto graph = testing::encoder(shape, FileOfZeros(folder / "weights"));
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const auto bytes = std::filesystem::file_size(folder / "weights");
  ASSERT_GT(bytes, 4 * kNoise);
  const auto model = testing::model_of(*std::move(graph));
  // What earlier tests of this program had at their peak does not count.
  std::ofstream("/proc/self/clear_refs") << "5";
  ASSERT_LT(platform::peak_resident_bytes(), platform::resident_bytes() + kNoise);
  const auto before = platform::resident_bytes();
  const auto executable = testing::backend()->load(model, "CPU", {.threads = 2});
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  // All of it has gone into panels.
  EXPECT_GT(platform::peak_resident_bytes(), before + bytes - kNoise);
  EXPECT_LT(platform::peak_resident_bytes(), before + bytes + kNoise);
}

}  // namespace
}  // namespace latebind::native

// What a model takes in memory while it is loaded, and what becomes of its file afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "backends/native/executable.h"
#include "backends/native/memory/weights.h"
#include "backends/native/plan/plan.h"
#include "core/platform/system_info.h"
#include "core/tensor/shared_bytes.h"
#include "support.h"
#include "tests/platform/support.h"

namespace latebind::native {
namespace {

// What else happens to the memory of a process, generously.
constexpr std::uint64_t kNoise = std::uint64_t{16} << 20;

// Weights of zeros in a file, which takes no time to write and is never in memory as a whole.
class FileOfZeros final : public kit::WeightMaker {
 public:
  explicit FileOfZeros(std::filesystem::path file) : file_(std::move(file)) {}

  graph::Weight add(std::string name, core::ElementType type, const core::Shape& shape) override {
    graph::Weight weight{.name = std::move(name), .type = type, .shape = shape, .offset = size_};
    size_ += *shape.element_count() * core::size_of(type);
    return weight;
  }
  [[nodiscard]] core::FilePart part() const override {
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

// Small weights in a part of a file.
class WeightsInFile final : public kit::WeightMaker {
 public:
  explicit WeightsInFile(std::filesystem::path file) : file_(std::move(file)) {}

  graph::Weight add(std::string name, core::ElementType type, const core::Shape& shape) override {
    return weights_.add(std::move(name), type, shape);
  }
  [[nodiscard]] core::FilePart part() const override {
    constexpr std::size_t kBefore = 100;
    const core::FilePart in_memory = weights_.part();
    const auto bytes = in_memory.bytes.bytes;
    std::ofstream(file_, std::ios::binary)
        << std::string(kBefore, 'x') << std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())
        << "what follows it";
    core::FilePart part = *core::FilePart::open(file_);
    part.where.offset = kBefore;
    part.where.size = bytes.size();
    part.bytes.bytes = part.bytes.bytes.subspan(kBefore, bytes.size());
    return part;
  }

 private:
  kit::PatternWeights weights_;
  std::filesystem::path file_;
};

// With a table that is too large to be copied.
testing::EncoderShape large_vocabulary() {
  return {.hidden = 64, .vocabulary = 20'000};
}

TEST(NativeFileTest, WhatIsReadOfAFileIsWhatIsInMemory) {
  const platform::testing::ScratchFolder folder;
  testing::EncoderShape in_halves = large_vocabulary();
  in_halves.vocabulary *= 2;
  in_halves.weights = core::ElementType::kBF16;
  testing::EncoderShape wide = large_vocabulary();
  wide.hidden = 1100;
  wide.vocabulary = 1000;
  std::mt19937 chance(9);
  for (const testing::EncoderShape& shape : {large_vocabulary(), in_halves, wide}) {
    SCOPED_TRACE(shape.hidden);
    const auto inputs = testing::draw_batch(chance, {20, 7, 1}, shape.vocabulary);
    const auto run = [&](core::Result<graph::Graph> graph) {
      const auto executable = testing::backend()->load(testing::model_of(*std::move(graph)), "CPU", {.threads = 2});
      return testing::run(**executable, inputs);
    };
    const testing::Outcome of_memory = run(testing::encoder(shape));
    const testing::Outcome of_file = run(testing::encoder(shape, WeightsInFile(folder / "weights")));
    ASSERT_TRUE(of_memory.status.ok() && of_file.status.ok()) << of_file.status.to_string();
    EXPECT_EQ(of_memory.values, of_file.values);
  }
}

TEST(NativeFileTest, OneThatIsCutIsAnErrorFromThenOn) {
  const platform::testing::ScratchFolder folder;
  const auto file = folder / "weights";
  const testing::EncoderShape shape = large_vocabulary();
  std::mt19937 chance(9);
  const auto few = testing::draw_batch(chance, {3}, shape.vocabulary);
  const auto many = testing::draw_batch(chance, std::vector<std::int64_t>(40, 30), shape.vocabulary);
  auto graph = testing::encoder(shape, WeightsInFile(file));
  const auto size = std::filesystem::file_size(file);
  const auto model = testing::model_of(*std::move(graph));
  const auto executable = testing::backend()->load(model, "CPU", {.threads = 2});
  const auto other = testing::backend()->load(model, "CPU", {.threads = 1});
  ASSERT_TRUE(executable.ok() && other.ok()) << executable.status().to_string();
  ASSERT_TRUE(testing::run(**executable, few).status.ok());
  std::filesystem::resize_file(file, 5000);
  for (const auto* const inputs : {&few, &many}) {
    const auto cut = testing::run(**executable, *inputs).status;
    EXPECT_EQ(cut.code(), core::StatusCode::kIo);
    EXPECT_THAT(cut.to_string(), ::testing::HasSubstr("was truncated while it was in use"));
    EXPECT_EQ(testing::run(**other, *inputs).status.code(), core::StatusCode::kIo);
  }
  // As long as before, but not what was there.
  std::filesystem::resize_file(file, size);
  EXPECT_EQ(testing::run(**executable, few).status.code(), core::StatusCode::kIo);
}

// After it was found to be the one that was opened. Its mapping has nothing any more where the file has not.
TEST(NativeFileTest, OneThatIsCutWhileItIsLoadedIsAnError) {
  const platform::testing::ScratchFolder folder;
  const auto file = folder / "weights";
  const Kernels& kernels = *all_kernels().back();
  const auto expect_cut = [](const core::Status& status) {
    EXPECT_EQ(status.code(), core::StatusCode::kIo);
    EXPECT_THAT(status.to_string(), ::testing::HasSubstr("was truncated while it was in use"));
  };
  for (const bool is_planned : {false, true}) {
    auto made = testing::encoder(large_vocabulary(), WeightsInFile(file));
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    const auto graph = std::make_shared<const graph::Graph>(*std::move(made));
    const WeightFiles files(*graph);
    if (!is_planned) {
      std::filesystem::resize_file(file, 100);
      expect_cut(make_plan(graph, files, kernels, kernels.f32).status());
    } else {
      auto plan = make_plan(graph, files, kernels, kernels.f32);
      ASSERT_TRUE(plan.ok()) << plan.status().to_string();
      std::filesystem::resize_file(file, 100);
      expect_cut(NativeExecutable(kernels, *std::move(plan), {}).pack(files));
    }
    // Another file for the next one.
    std::filesystem::remove(file);
  }
}

TEST(NativeFileTest, OneThatIsReplacedOrRemovedIsUsedAsItWas) {
  const platform::testing::ScratchFolder folder;
  const testing::EncoderShape shape = large_vocabulary();
  std::mt19937 chance(9);
  const auto inputs = testing::draw_batch(chance, {20, 7}, shape.vocabulary);
  auto graph = testing::encoder(shape, WeightsInFile(folder / "weights"));
  const auto model = testing::model_of(*std::move(graph));
  const auto before = testing::backend()->load(model, "CPU", {.threads = 2});
  const auto wanted = testing::run(**before, inputs).values;
  ASSERT_FALSE(wanted.empty());
  std::ofstream(folder / "other") << "another";
  std::filesystem::rename(folder / "other", folder / "weights");
  EXPECT_EQ(testing::run(**before, inputs).values, wanted);
  // The mapping is all that is left to a load.
  const auto after = testing::backend()->load(model, "CPU", {.threads = 2});
  ASSERT_TRUE(after.ok()) << after.status().to_string();
  EXPECT_EQ(testing::run(**after, inputs).values, wanted);
  std::filesystem::remove(folder / "weights");
  EXPECT_EQ(testing::run(**before, inputs).values, wanted);
}

}  // namespace
}  // namespace latebind::native

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "cli/data/file_names.h"
#include "cli/data/nearest.h"
#include "cli/data/percentile.h"
#include "cli/data/vector_writer.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/progress.h"
#include "core/json.h"

namespace latebind::cli {
namespace {

using core::Status;

// Keeps what is written.
class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(std::string& bytes, bool can_rewrite = true) : bytes_(bytes), can_rewrite_(can_rewrite) {}
  Status write(std::string_view bytes) override {
    bytes_ += bytes;
    return {};
  }
  bool can_rewrite() const override { return can_rewrite_; }
  Status rewrite(std::size_t offset, std::string_view bytes) override {
    bytes_.replace(offset, bytes.size(), bytes);
    return {};
  }
  Status finish() override { return {}; }

 private:
  std::string& bytes_;
  bool can_rewrite_;
};

embedding::VectorWindow vectors(std::span<const float> numbers) {
  embedding::VectorWindow window;
  window.vectors = numbers;
  return window;
}

embedding::VectorWindow sparse_vectors(std::span<const embedding::SparseVector> sparse) {
  embedding::VectorWindow window;
  window.sparse = sparse;
  return window;
}

TEST(VectorWriterTest, WritesJsonThatReadsBackBitForBit) {
  std::string bytes;
  auto writer = VectorWriter::make(VectorFormat::kJsonl, std::make_unique<MemorySink>(bytes), 3);
  ASSERT_TRUE(writer.ok());
  const std::vector<float> values{0.1F, -0.0F, std::numeric_limits<float>::denorm_min(), 1.0F / 3, 16777217.0F, -1e30F};
  ASSERT_TRUE((*writer)->write(vectors(std::span(values).first(3))).ok());
  ASSERT_TRUE((*writer)->write(vectors(std::span(values).last(3))).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  std::istringstream lines(bytes);
  std::size_t index = 0;
  for (std::string line; std::getline(lines, line); ++index) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["index"], index);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto read = static_cast<float>(json["embedding"][i].get<double>());
      EXPECT_EQ(std::bit_cast<std::uint32_t>(read), std::bit_cast<std::uint32_t>(values[index * 3 + i])) << line;
    }
  }
  EXPECT_EQ(index, 2U);
  EXPECT_NE(bytes.find("[0.1,-0.0,1e-45]"), std::string::npos) << bytes;
}

TEST(VectorWriterTest, WritesSparseVectorsALineEach) {
  std::string bytes;
  auto writer = VectorWriter::make(VectorFormat::kSparse, std::make_unique<MemorySink>(bytes), 30'522);
  ASSERT_TRUE(writer.ok());
  const std::vector<embedding::SparseVector> sparse{{.indices = {3, 30'521}, .values = {0.1F, 1.0F / 3}}, {}};
  ASSERT_TRUE((*writer)->write(sparse_vectors(sparse)).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  EXPECT_EQ(bytes,
            "{\"index\":0,\"indices\":[3,30521],\"values\":[0.1,0.33333334]}\n"
            "{\"index\":1,\"indices\":[],\"values\":[]}\n");
}

TEST(VectorWriterTest, PutsTheCountIntoTheNpyHeaderAtTheEnd) {
  for (const bool can_rewrite : {true, false}) {
    std::string bytes;
    auto writer = VectorWriter::make(VectorFormat::kNpy, std::make_unique<MemorySink>(bytes, can_rewrite), 2);
    ASSERT_TRUE(writer.ok()) << writer.status().to_string();
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    ASSERT_TRUE((*writer)->write(vectors(std::span(values).first(4))).ok());
    ASSERT_TRUE((*writer)->write(vectors(std::span(values).last(2))).ok());
    ASSERT_TRUE((*writer)->finish().ok());
    EXPECT_NE(bytes.find("'shape': (3, 2)"), std::string::npos);
    ASSERT_EQ(bytes.size(), 128U + 24U);
    EXPECT_EQ(std::memcmp(bytes.data() + 128, values.data(), 24), 0);
  }
}

TEST(ProgressTest, SaysRateAndRemainingTime) {
  const auto line = progress_line(500, 25, 100, 2.0, 200);
  EXPECT_NE(line.find(" 25 %"), std::string::npos) << line;
  EXPECT_NE(line.find("250 texts/s"), std::string::npos) << line;
  EXPECT_NE(line.find("0:00:06 left"), std::string::npos) << line;
}

TEST(ProgressTest, SaysHowMuchIsLoadedAndHowFast) {
  EXPECT_EQ(loading_line(25'000'000, 100'000'000, 2.0, 200),
            "[======                  ]  25 %  25.0 of 100.0 MB  12.5 MB/s  0:00:06 left");
  EXPECT_NE(loading_line(0, 0, 0, 200).find("0.0 of 0.0 MB"), std::string::npos);
  EXPECT_EQ(loading_line(1, UINT64_MAX, 1e300, 20).size(), 20U);
}

TEST(ProgressTest, StandsAnyFigures) {
  EXPECT_NE(progress_line(0, 0, 100, 0, 200).find("0 texts"), std::string::npos);
  EXPECT_NE(progress_line(7, 1, std::nullopt, 3.5, 200).find("0:00:04 so far"), std::string::npos);
  EXPECT_NE(progress_line(7, 1, 0, 3.5, 200).find("so far"), std::string::npos);
  EXPECT_NE(progress_line(1, 500, 100, 1, 200).find("100 %"), std::string::npos);
  EXPECT_EQ(progress_line(1, 1, UINT64_MAX, 1e300, 20).size(), 20U);
}

TEST(FileNamesTest, StaysInTheFolder) {
  const std::vector<std::string> names{
      "y",      "../../etc/passwd",   "/abs", "", ".hidden", "a:0", "a/0", "A_0", "NUL", "..",
      "com1.x", std::string(500, 'n')};
  const auto safe = safe_file_names(names);
  ASSERT_EQ(safe.size(), names.size());
  EXPECT_EQ(safe[0], "y");
  EXPECT_EQ(safe[1], "_._.._etc_passwd");
  EXPECT_EQ(safe[2], "_abs");
  EXPECT_EQ(safe[3], "output");
  EXPECT_EQ(safe[4], "_hidden");
  EXPECT_EQ(safe[5], "a_0");
  EXPECT_EQ(safe[6], "a_0_2");
  EXPECT_EQ(safe[7], "A_0_3");
  EXPECT_EQ(safe[8], "_NUL");
  EXPECT_EQ(safe[9], "_.");
  EXPECT_EQ(safe[10], "_com1.x");
  EXPECT_EQ(safe[11].size(), 100U);
}

TEST(NearestTest, KeepsTheBestInOrder) {
  const std::vector<float> query{1, 0};
  Nearest nearest(query, 2);
  nearest.offer(std::vector<float>{0, 5}, 1, "across");
  nearest.offer(std::vector<float>{2, 0}, 2, "along");
  nearest.offer(std::vector<float>{-1, 0}, 3, "against");
  nearest.offer(std::vector<float>{3, 0}, 4, "along too");
  const auto matches = std::move(nearest).take();
  ASSERT_EQ(matches.size(), 2U);
  EXPECT_EQ(matches[0].line, 2U);
  EXPECT_EQ(matches[1].line, 4U);
  EXPECT_FLOAT_EQ(matches[0].score, 1);
}

TEST(NearestTest, StandsZeroAndInfiniteVectors) {
  Nearest nearest(std::vector<float>{1, 0}, 3);
  nearest.offer(std::vector<float>{INFINITY, 0}, 1, "");
  nearest.offer(std::vector<float>{0, 0}, 2, "");
  const auto matches = std::move(nearest).take();
  EXPECT_EQ(matches[0].line, 2U);
  EXPECT_FLOAT_EQ(matches[0].score, 0);
  EXPECT_FLOAT_EQ(matches[1].score, -1);
}

TEST(PercentileTest, IsTheNearestRank) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(percentile({4, 3, 2, 1}, 0.5), 2);
  EXPECT_EQ(percentile({1, 2, 3}, 0.99), 3);
  EXPECT_EQ(percentile({1, 2, 3}, 0), 1);
}

}  // namespace
}  // namespace latebind::cli

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/data/file_names.h"
#include "cli/data/nearest.h"
#include "cli/data/outline.h"
#include "cli/data/percentile.h"
#include "cli/data/vector_writer.h"
#include "cli/terminal/byte_sink.h"
#include "cli/terminal/progress.h"

namespace latebind::cli {
namespace {

using core::Status;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

using embedding::ResultForm;
using embedding::ResultWindow;

// A writer to these files.
core::Result<std::unique_ptr<VectorWriter>> writer_to(std::vector<std::string>& files, VectorFormat format,
                                                      std::vector<WrittenOutput> outputs, bool can_rewrite = true) {
  files.resize(files_of(format, "f.npy", outputs).size());
  std::vector<std::unique_ptr<ByteSink>> sinks;
  for (std::string& file : files)
    sinks.push_back(std::make_unique<MemorySink>(file, can_rewrite));
  return VectorWriter::make(format, std::move(sinks), std::move(outputs));
}

const WrittenOutput kSparse{.name = "sparse", .form = ResultForm::kSparseRow};
WrittenOutput rows_of(std::size_t dimension) {
  return {.name = "dense", .form = ResultForm::kRow, .dimension = dimension};
}
WrittenOutput ragged_rows_of(std::size_t dimension) {
  return {.name = "token_vectors", .form = ResultForm::kRaggedRows, .dimension = dimension};
}

TEST(VectorWriterTest, WritesJsonThatReadsBackBitForBit) {
  std::vector<std::string> files;
  const auto writer = writer_to(files, VectorFormat::kJsonl, {rows_of(3)});
  ASSERT_TRUE(writer.ok());
  const std::vector<float> values{0.1F, -0.0F, std::numeric_limits<float>::denorm_min(), 1.0F / 3, 16777217.0F, -1e30F};
  const std::vector<ResultWindow> first{{.vectors = std::span(values).first(3)}};
  const std::vector<ResultWindow> last{{.vectors = std::span(values).last(3)}};
  ASSERT_TRUE((*writer)->write(first, 1).ok());
  ASSERT_TRUE((*writer)->write(last, 1).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  std::istringstream lines(files[0]);
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
  EXPECT_NE(files[0].find("[0.1,-0.0,1e-45]"), std::string::npos) << files[0];
}

TEST(VectorWriterTest, TheMembersOfALineAreThoseOfTheResultsForm) {
  const std::vector<embedding::SparseVector> sparse{{.indices = {3, 30'521}, .values = {0.1F, 1.0F / 3}}, {}};
  const std::vector<float> rows{1, 2, 3, 4};
  const std::vector<float> of_tokens{5, 6, 7};
  const std::vector<std::uint32_t> counts{2, 1};
  const ResultWindow of_terms{.sparse = sparse};
  const ResultWindow dense{.vectors = rows};
  const ResultWindow ragged{.vectors = of_tokens, .vector_counts = counts};
  const auto lines_of = [](const std::vector<WrittenOutput>& outputs, const std::vector<ResultWindow>& results) {
    std::vector<std::string> files;
    const auto writer = writer_to(files, VectorFormat::kJsonl, outputs);
    EXPECT_TRUE((*writer)->write(results, 2, std::vector<std::string>{"\"a\"", ""}).ok());
    EXPECT_TRUE((*writer)->finish().ok());
    return files[0];
  };
  EXPECT_EQ(lines_of({kSparse}, {of_terms}),
            "{\"index\":0,\"id\":\"a\",\"indices\":[3,30521],\"values\":[0.1,0.33333334]}\n"
            "{\"index\":1,\"indices\":[],\"values\":[]}\n");
  EXPECT_EQ(lines_of({ragged_rows_of(1)}, {ragged}),
            "{\"index\":0,\"id\":\"a\",\"vectors\":[[5],[6]]}\n"
            "{\"index\":1,\"vectors\":[[7]]}\n");
  EXPECT_EQ(lines_of({rows_of(2), ragged_rows_of(1), kSparse}, {dense, ragged, of_terms}),
            "{\"index\":0,\"id\":\"a\",\"dense\":[1,2],\"token_vectors\":[[5],[6]],"
            "\"sparse\":{\"indices\":[3,30521],\"values\":[0.1,0.33333334]}}\n"
            "{\"index\":1,\"dense\":[3,4],\"token_vectors\":[[7]],\"sparse\":{\"indices\":[],\"values\":[]}}\n");
}

TEST(VectorWriterTest, PutsTheCountIntoTheNpyHeaderAtTheEnd) {
  for (const bool can_rewrite : {true, false}) {
    std::vector<std::string> files;
    const auto writer = writer_to(files, VectorFormat::kNpy, {rows_of(2)}, can_rewrite);
    ASSERT_TRUE(writer.ok()) << writer.status().to_string();
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    ASSERT_TRUE((*writer)->write(std::vector<ResultWindow>{{.vectors = std::span(values).first(4)}}, 2).ok());
    ASSERT_TRUE((*writer)->write(std::vector<ResultWindow>{{.vectors = std::span(values).last(2)}}, 1).ok());
    ASSERT_TRUE((*writer)->finish().ok());
    EXPECT_NE(files[0].find("'shape': (3, 2)"), std::string::npos);
    ASSERT_EQ(files[0].size(), 128U + 24U);
    EXPECT_EQ(std::memcmp(files[0].data() + 128, values.data(), 24), 0);
  }
}

TEST(VectorWriterTest, NpyHasAFileForEachOutput) {
  const std::vector<WrittenOutput> outputs{rows_of(2), ragged_rows_of(1)};
  EXPECT_THAT(files_of(VectorFormat::kNpy, "a/v.npy", outputs),
              ElementsAre("a/v.dense.npy", "a/v.token_vectors.npy", "a/v.token_vectors.counts.npy"));
  EXPECT_THAT(files_of(VectorFormat::kNpy, "v", {&outputs[1], 1}),
              ElementsAre("v.token_vectors.npy", "v.token_vectors.counts.npy"));
  EXPECT_THAT(files_of(VectorFormat::kNpy, "v.npy", {outputs.data(), 1}), ElementsAre("v.npy"));
  EXPECT_THAT(files_of(VectorFormat::kJsonl, "v.jsonl", outputs), ElementsAre("v.jsonl"));
  std::vector<std::string> files;
  const auto writer = writer_to(files, VectorFormat::kNpy, outputs);
  ASSERT_TRUE(writer.ok()) << writer.status().to_string();
  const std::vector<float> rows{1, 2, 3, 4};
  const std::vector<float> of_tokens{5, 6, 7};
  const std::vector<std::uint32_t> counts{2, 1};
  const std::vector<ResultWindow> results{{.vectors = rows}, {.vectors = of_tokens, .vector_counts = counts}};
  ASSERT_TRUE((*writer)->write(results, 2).ok());
  ASSERT_TRUE((*writer)->finish().ok());
  EXPECT_THAT(files[0], HasSubstr("'<f4', 'fortran_order': False, 'shape': (2, 2)"));
  EXPECT_THAT(files[1], HasSubstr("'<f4', 'fortran_order': False, 'shape': (3, 1)"));
  EXPECT_THAT(files[2], HasSubstr("'<i8', 'fortran_order': False, 'shape': (2,)"));
  EXPECT_EQ(std::memcmp(files[1].data() + 128, of_tokens.data(), 12), 0);
  const std::vector<std::int64_t> written{2, 1};
  ASSERT_EQ(files[2].size(), 128U + 16U);
  EXPECT_EQ(std::memcmp(files[2].data() + 128, written.data(), 16), 0);
}

TEST(VectorWriterTest, RefusesFormatsThatCannotHoldTheResults) {
  const auto refused = [](VectorFormat format, const std::vector<WrittenOutput>& outputs) {
    const Status status = check_format(format, outputs);
    EXPECT_EQ(status.code(), core::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("--output-format jsonl"));
    return std::string(status.message());
  };
  EXPECT_THAT(refused(VectorFormat::kNpy, {rows_of(2), kSparse}), HasSubstr("'sparse' has sparse vectors"));
  EXPECT_THAT(refused(VectorFormat::kF32, {ragged_rows_of(2)}), HasSubstr("'token_vectors' has a vector for each"));
  EXPECT_THAT(refused(VectorFormat::kF32, {rows_of(2), rows_of(2)}), HasSubstr("the rows of one output"));
  EXPECT_TRUE(check_format(VectorFormat::kJsonl, std::vector{rows_of(2), kSparse, ragged_rows_of(2)}).ok());
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

TEST(OutlineTest, ShowsWhatTheMembersContain) {
  const core::Json described = {
      {"name", "a\x1b[31m\nmodel"},
      {"input",
       {{"kind", "text"},
        {"tokens_max", 256},
        {"token_types", false},
        {"prompt", "query: "},
        {"prompts", core::Json::object()}}},
      {"outputs",
       {{"dense", {{"modules", {{{"in", 4}, {"bias", true}}, {{"in", 2}, {"bias", nullptr}}}}, {"normalized", true}}}}},
      {"files", {"config.json", "tokenizer.json"}}};
  EXPECT_EQ(outline(described),
            "name   a?[31m model\n"
            "\n"
            "input\n"
            "  kind         text\n"
            "  tokens max   256\n"
            "  token types  no\n"
            "  prompt       'query: '\n"
            "\n"
            "outputs\n"
            "  dense\n"
            "    modules     in 4, bias yes, in 2\n"
            "    normalized  yes\n"
            "\n"
            "files  config.json, tokenizer.json\n");
  EXPECT_EQ(outline(core::Json::object()), "");
}

TEST(OutlineTest, PutsALongListBelowItself) {
  const std::string name(50, 'n');
  EXPECT_EQ(outline({{"files", {name, name}}, {"of", 1}}), "files  " + name + "\n       " + name + "\nof     1\n");
}

}  // namespace
}  // namespace latebind::cli

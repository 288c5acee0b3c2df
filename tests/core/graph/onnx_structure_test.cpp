#include "core/graph/onnx_structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace latebind::graph {
namespace {

using namespace std::string_literals;
using core::Status;
using core::StatusCode;
using ::testing::HasSubstr;

Status check(const std::string& bytes) {
  return check_onnx_structure(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

// ir_version 7, a graph of three bytes, opset_import.
const std::string kModel = "\x08\x07\x3A\x03xyz\x42\x04\x0A\x00\x10\x0D"s;

TEST(OnnxStructureTest, AcceptsWholeModels) {
  EXPECT_TRUE(check(kModel).ok());
  EXPECT_TRUE(check("\x3A\x00"s).ok());
  // Fields of every kind, also unknown ones.
  EXPECT_TRUE(check(kModel + "\x81\x7F"s + "12345678" + "\x85\x7F" + "1234").ok());
}

TEST(OnnxStructureTest, NamesThePlaceWhereAModelWasCutOff) {
  for (std::size_t size = 0; size < kModel.size(); ++size) {
    const Status status = check(kModel.substr(0, size));
    if (size == 7) continue;  // between two fields, after the graph
    ASSERT_FALSE(status.ok()) << size;
    EXPECT_EQ(status.code(), StatusCode::kInvalidModel);
  }
  EXPECT_THAT(check(kModel.substr(0, 6)).to_string(), HasSubstr("at byte 2: field 7 has 3 bytes"));
}

TEST(OnnxStructureTest, RefusesWhatIsNoMessage) {
  EXPECT_THAT(check("\x08\x07"s).to_string(), HasSubstr("no graph"));
  EXPECT_THAT(check("\x3A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s).to_string(), HasSubstr("18446744073709551615"));
  EXPECT_THAT(check("\x3A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s).to_string(), HasSubstr("no end"));
  EXPECT_THAT(check("\x3A\x00\x00\x00"s).to_string(), HasSubstr("at byte 2: no field begins here"));
  EXPECT_THAT(check("\x3A\x00\x0B"s).to_string(), HasSubstr("at byte 2: no field begins here"));
}

TEST(OnnxStructureTest, SaysWhatGitLfsHasNotLoaded) {
  EXPECT_THAT(check("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n").to_string(),
              HasSubstr("a pointer to the file"));
}

// A model with one tensor, whose field 13 (external data) has this tag.
std::string with_external(const std::string& tag) {
  const std::string entry = "\x0A\x08location\x12\x05w.bin"s;
  const std::string tensor = tag + static_cast<char>(entry.size()) + entry;
  const std::string graph = "\x2A"s + static_cast<char>(tensor.size()) + tensor;
  return "\x3A"s + static_cast<char>(graph.size()) + graph;
}

ExternalLocations locations_in(const std::string& bytes) {
  return external_data_locations(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

TEST(OnnxStructureTest, DataInOtherFilesIsSeenHoweverItIsWritten) {
  EXPECT_THAT(locations_in(with_external("\x6A")).names, ::testing::ElementsAre("w.bin"));
  EXPECT_THAT(locations_in(with_external("\xEA\x80\x00"s)).names, ::testing::ElementsAre("w.bin"));
  EXPECT_FALSE(locations_in(kModel).any);
  // Readers drop what is above 32 bits of a tag.
  const auto hidden = locations_in(with_external("\xEA\x80\x80\x80\x10"s));
  EXPECT_FALSE(hidden.complete);
  EXPECT_FALSE(check("\x3A\x00"s + "\xEA\x80\x80\x80\x10\x00"s).ok());
}

TEST(OnnxStructureTest, AnEntryWithOtherFieldsInItNamesItsFileAllTheSame) {
  // key, an unknown number, value
  const std::string entry = "\x0A\x08location\x18\x01\x12\x05w.bin"s;
  const std::string tensor = "\x6A"s + static_cast<char>(entry.size()) + entry;
  const std::string graph = "\x2A"s + static_cast<char>(tensor.size()) + tensor;
  EXPECT_THAT(locations_in("\x3A"s + static_cast<char>(graph.size()) + graph).names, ::testing::ElementsAre("w.bin"));
}

TEST(OnnxStructureTest, TheDataOfInitializersIsFoundWhereItIs) {
  // Tensors with a name (8) and raw data (9), a name alone, and data that is cut off.
  const std::string graph =
      "\x2A\x07\x42\x01v\x4A\x02zz\x2A\x03\x42\x01n\x2A\x06\x42\x01"
      "d\x4A\x09z"s;
  const std::string model = "\x08\x07\x3A"s + static_cast<char>(graph.size()) + graph;
  const auto data = initializer_data(std::as_bytes(std::span(model.data(), model.size())));
  ASSERT_EQ(data.size(), 1U);
  const auto& [name, bytes] = *data.begin();
  EXPECT_EQ(name, "v");
  EXPECT_EQ(reinterpret_cast<const char*>(bytes.data()), model.data() + model.find("zz"));
  EXPECT_EQ(bytes.size(), 2U);
}

}  // namespace
}  // namespace latebind::graph

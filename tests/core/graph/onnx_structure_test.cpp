#include "core/graph/onnx_structure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
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
              HasSubstr("a Git LFS pointer"));
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

std::string moved(const std::string& bytes, const std::string& from, const ExternalPlace& to) {
  const auto made = with_external_places(
      std::as_bytes(std::span(bytes.data(), bytes.size())),
      [&](ExternalPlace place) { return core::Result<ExternalPlace>(place.location == from ? to : std::move(place)); });
  return made.ok() ? *made : made.status().to_string();
}

TEST(OnnxStructureTest, DataIsMovedWhereverItIsNamed) {
  const std::string model = with_external("\x6A");
  const std::string longer(300, 'e');
  EXPECT_EQ(locations_in(moved(model, "w.bin", {.location = longer})).names, std::set<std::string>{longer});
  const std::string placed = moved(model, "w.bin", {.location = "v.bin", .offset = 18446744073709551614U, .length = 7});
  EXPECT_THAT(placed, HasSubstr("offset\x12\x14"s + "18446744073709551614"));
  EXPECT_THAT(placed, HasSubstr("length\x12\x01"s + "7"));
  ExternalPlace read;
  const auto look = [&read](ExternalPlace place) {
    read = place;
    return core::Result<ExternalPlace>(std::move(place));
  };
  ASSERT_TRUE(with_external_places(std::as_bytes(std::span(placed.data(), placed.size())), look).ok());
  EXPECT_EQ(read.location, "v.bin");
  EXPECT_EQ(read.offset, 18446744073709551614U);
  EXPECT_EQ(read.length, 7U);
  EXPECT_EQ(moved("\x08\x07\x3A\x00"s, "w.bin", {}), "\x08\x07\x3A\x00"s);
  // In a graph that is an attribute of a node, between fields of every kind.
  const std::string numbers =
      "\x15"
      "abcd\x11"
      "efghijkl\x18\x07"s;
  const std::string inner = numbers + model.substr(2) + numbers;
  const std::string attribute =
      "\x15"
      "1234\x32"s +
      static_cast<char>(inner.size()) + inner + "\x0A\x01n"s;
  const std::string node = "\x2A"s + static_cast<char>(attribute.size()) + attribute + "\x22\x02If"s;
  const std::string graph = "\x12\x01g\x0A"s + static_cast<char>(node.size()) + node;
  const std::string nested = "\x08\x07\x3A"s + static_cast<char>(graph.size()) + graph + "\x42\x04\x0A\x00\x10\x0D"s;
  ASSERT_EQ(locations_in(nested).names, std::set<std::string>{"w.bin"});
  const std::string other = moved(nested, "w.bin", {.location = "W.BIN"});
  EXPECT_EQ(locations_in(other).names, std::set<std::string>{"W.BIN"});
  EXPECT_EQ(other.size(), moved(nested, "", {}).size());
  for (const std::string& whole : {numbers, "1234"s, "\x22\x02If"s, "\x0A\x01n"s, "\x42\x04\x0A\x00\x10\x0D"s})
    EXPECT_THAT(other, HasSubstr(whole));
}

TEST(OnnxStructureTest, DamagedModelsAreNotMoved) {
  const std::string model = with_external("\x6A");
  for (std::size_t size = 1; size < model.size(); ++size)
    EXPECT_THAT(moved(model.substr(0, size), "w.bin", {}), HasSubstr("damaged")) << size;
  EXPECT_THAT(moved("\x3A\x13\x2A\x11\x6A\x0F\x0A\x06offset\x12\x05w.bin"s, "", {}), HasSubstr("damaged"));
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

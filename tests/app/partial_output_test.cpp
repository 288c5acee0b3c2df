// An unfinished output: what was saved is there again, whatever ended the run, and nothing else.
#include "app/bulk/partial_output.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "app/bulk/manifest.h"
#include "core/platform/files/temporary_folder.h"
#include "core/text/quote.h"
#include "tests/support/json.h"

namespace latebind::app {
namespace {

using core::StatusCode;
using std::filesystem::path;

std::string content_of(const path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void put(const path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

Json manifest(int number = 1) {
  Json json;
  json["format"] = kManifestFormat;
  json["kind"] = "file";
  json["settings"]["number"] = number;
  return json;
}

class PartialOutputTest : public ::testing::Test {
 protected:
  PartialOutputTest()
      : folder_(*platform::TemporaryFolder::create("partial-output-test")), place_(folder_.path() / "v.npy") {}
  [[nodiscard]] path part(const std::string& name = {}) const {
    return name.empty() ? folder_.path() / "v.npy.part" : folder_.path() / "v.npy.part" / name;
  }
  // A run that saves 4 bytes of one text, writes more, and ends.
  void interrupt() {
    auto output = PartialOutput::open(place_);
    ASSERT_TRUE(output.ok()) << output.status().to_string();
    ASSERT_TRUE(output->begin().ok());
    ASSERT_TRUE(output->write("head").ok() && output->write_id("1\n").ok());
    ASSERT_TRUE(output->save(manifest(), {.texts = 1, .offset = 7, .line = 1, .has_ids = true}).ok());
    ASSERT_TRUE(output->write(std::string(1 << 20, 'x')).ok() && output->write_id("2\n").ok());
  }

  platform::TemporaryFolder folder_;
  path place_;
};

TEST_F(PartialOutputTest, GoesOnFromWhatWasSaved) {
  put(place_, "old");
  interrupt();
  EXPECT_EQ(content_of(place_), "old");
  auto output = PartialOutput::open(place_);
  ASSERT_TRUE(output.ok()) << output.status().to_string();
  ASSERT_TRUE(output->manifest());
  EXPECT_TRUE(differences(*output->manifest(), manifest()).empty());
  EXPECT_EQ(output->progress().texts, 1U);
  EXPECT_EQ(output->progress().offset, 7U);
  ASSERT_TRUE(output->begin().ok());
  ASSERT_TRUE(output->write("tail").ok() && output->write_id("2\n").ok());
  ASSERT_TRUE(output->rewrite(0, "HE").ok());
  ASSERT_TRUE(output->finish(true).ok());
  EXPECT_EQ(content_of(place_), "HEadtail");
  EXPECT_EQ(content_of(ids_file_of(place_)), "1\n2\n");
  EXPECT_FALSE(exists(part()));
}

TEST_F(PartialOutputTest, LeavesNothingWhereNothingWasSaved) {
  {
    auto output = PartialOutput::open(place_);
    ASSERT_TRUE(output.ok() && output->begin().ok() && output->write("head").ok());
    EXPECT_TRUE(exists(part()));
  }
  EXPECT_FALSE(exists(part()));
  interrupt();
  {
    auto output = PartialOutput::open(place_);
    ASSERT_TRUE(output.ok() && output->restart().ok());
  }
  EXPECT_FALSE(exists(part()));
}

TEST_F(PartialOutputTest, IsHeldByOneAtATime) {
  auto output = PartialOutput::open(place_);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(PartialOutput::open(place_).status().code(), StatusCode::kBusy);
}

TEST_F(PartialOutputTest, WhatIsDamagedIsBegunAnew) {
  for (const std::string progress : {"", "{", "[]", "{\"texts\":1}", "\0",
                                     "{\"texts\":-1,\"file\":0,\"offset\":7,\"line\":1,\"bytes\":4,\"id_bytes\":2,"
                                     "\"has_ids\":true}"}) {
    interrupt();
    put(part("progress.json"), progress);
    auto output = PartialOutput::open(place_);
    ASSERT_TRUE(output.ok()) << output.status().to_string();
    EXPECT_FALSE(output->manifest()) << progress;
  }
  for (const std::string number : {"\"texts\":1", "\"offset\":7", "\"line\":1", "\"bytes\":4", "true"}) {
    interrupt();
    std::string text = content_of(part("progress.json"));
    ASSERT_NE(text.find(number), std::string::npos) << text;
    text.replace(text.find(number), number.size(),
                 number == "true" ? "false" : number.substr(0, number.size() - 1) + "2");
    put(part("progress.json"), text);
    auto output = PartialOutput::open(place_);
    ASSERT_TRUE(output.ok()) << output.status().to_string();
    EXPECT_FALSE(output->manifest()) << text;
  }
  for (const char* const name : {"vectors", "ids"}) {
    interrupt();
    put(part(name), "");
    auto output = PartialOutput::open(place_);
    ASSERT_TRUE(output.ok());
    EXPECT_FALSE(output->manifest()) << name;
  }
}

TEST_F(PartialOutputTest, FoldersOfOthersAreLeftAlone) {
  create_directory(part());
  // Some have the names of ours.
  const std::vector<std::string> names{"mine.txt", "vectors", "ids", "progress.json"};
  for (const std::string& name : names)
    put(part(name), "mine: " + name);
  auto refused = PartialOutput::open(place_);
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("mine.txt"), std::string::npos);
  for (const std::string& name : names)
    EXPECT_EQ(content_of(part(name)), "mine: " + name);
  EXPECT_FALSE(exists(part(".lock")));
  std::filesystem::remove_all(part());
  put(part(), "a file");
  EXPECT_EQ(PartialOutput::open(place_).status().code(), StatusCode::kInvalidArgument);
  std::filesystem::remove(part());
  for (const std::string text : {"", "[]", "{\"format\": 2}", "{\"format\": \"1\"}"}) {
    create_directory(part());
    put(part("manifest.json"), text);
    put(part("vectors"), "of another version");
    EXPECT_EQ(PartialOutput::open(place_).status().code(), StatusCode::kInvalidArgument) << text;
    EXPECT_TRUE(exists(part("manifest.json"))) << text;
    EXPECT_EQ(content_of(part("manifest.json")), text);
    EXPECT_EQ(content_of(part("vectors")), "of another version") << text;
    std::filesystem::remove_all(part());
  }
}

TEST_F(PartialOutputTest, OutputsOfOtherEnginesAreLeftAlone) {
  for (const std::string text : {"{\"format\": 1, \"kind\": \"shards\"}", "{\"format\": 1}"}) {
    create_directory(part());
    put(part("manifest.json"), text);
    const auto refused = PartialOutput::open(place_);
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument) << text;
    EXPECT_NE(refused.status().message().find("remove the folder"), std::string::npos);
    EXPECT_EQ(content_of(part("manifest.json")), text);
    std::filesystem::remove_all(part());
  }
}

TEST(ManifestTest, HasAnEndToItsDepth) {
  const std::string deep = std::string(1 << 20, '[') + std::string(1 << 20, ']');
  for (const std::string place : {R"("kind":)", R"("kind": "file", "inputs": [0, {"name":)"}) {
    const std::string end = place.ends_with("name\":") ? "}]}" : "}";
    const auto parsed = parse_manifest(R"({"format": 1, )" + place + deep + end, "'manifest.json'");
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(parse_manifest(R"({"format": 1, "a": {"b": [[[]]]}})", "'manifest.json'").ok());
}

// A run goes on with files whose names are no UTF-8.
TEST_F(PartialOutputTest, InputsAreTheSameOnceTheyWereWritten) {
  const path file = folder_.path() / "a.txt";
  put(file, "one\ntwo");
  const auto identity = platform::file_identity(file);
  ASSERT_TRUE(identity.ok());
  Json now = manifest();
  const auto inputs = describe_inputs({{.name = "\xFF.txt", .file = file, .identity = *identity}});
  ASSERT_TRUE(inputs.ok()) << inputs.status().to_string();
  now["inputs"] = *inputs;
  EXPECT_EQ(now["inputs"][0]["rows"], 2);
  {
    auto output = PartialOutput::open(place_);
    ASSERT_TRUE(output.ok() && output->begin().ok() && output->write("head").ok());
    ASSERT_TRUE(output->save(now, {.texts = 1}).ok());
  }
  const auto output = PartialOutput::open(place_);
  ASSERT_TRUE(output.ok() && output->manifest());
  EXPECT_TRUE(differences(*output->manifest(), now).empty());
}

TEST(ManifestTest, NamesWhatDiffers) {
  const Json was = json_of(R"({"a": {"b": 1, "c": null}, "in": [{"name": "x", "n": 1}, {"name": "y"}]})");
  EXPECT_TRUE(differences(was, was).empty());
  const Json now = json_of(R"({"a": {"b": "2", "d": true}, "in": [{"name": "x", "n": 2}]})");
  std::vector<std::string> found;
  for (const Difference& one : differences(was, now))
    found.push_back(one.place + ": " + one.was.value_or("nothing") + ", " + one.now.value_or("nothing"));
  EXPECT_EQ(found, (std::vector<std::string>{"a.b: 1, \"2\"", "a.d: nothing, true", "in[0].n: 1, 2",
                                             "in[1]: \"y\", nothing"}));
}

TEST(ManifestTest, WhatDiffersIsALineWithAnEnd) {
  const Json now = json_of(R"({"format": 1})");
  Json was = now;
  was["two\nlines"] = "\xE2\x80\xAE";
  was[std::string(1 << 20, 'k')][std::string(1 << 20, 'l')] = std::string(1 << 20, 'v');
  was["cut"] = std::string(98, 'b') + "\xC3\xA4\xC3\xA4";
  was["in"] = json_of(R"({"name": [[0, 1]]})");
  was["in"]["name"][0][0] = std::string(1 << 20, 'n');
  for (const Difference& one : differences(was, now)) {
    for (const std::string& text : {one.place, one.was.value_or(""), one.now.value_or("")}) {
      EXPECT_EQ(core::printable(text, text.size()), text);
      EXPECT_LT(text.size(), 1000U);
    }
  }
}

// An earlier run's manifest has a limit for its bytes alone.
TEST(ManifestTest, ManyDifferencesHaveAnEnd) {
  const Json now = json_of(R"({"format": 1, "settings": {"7": 7}})");
  Json members;
  for (int i = 0; i < 300'000; ++i)
    members.add_member(std::to_string(i), i);
  Json was = now;
  was["settings"] = std::move(members);
  EXPECT_EQ(differences(was, now).size(), kDifferencesMax);
}

}  // namespace
}  // namespace latebind::app

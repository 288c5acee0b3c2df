// Blobs of pjrt: what is written is read, and nothing else is.
#include "backends/pjrt/blob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/cache/compile_entry.h"

namespace latebind::pjrt {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

const std::string kProgram = "what a plug-in compiled";
const std::string kWeight(24, 'w');

BlobContent content() {
  BlobContent made{
      .origin = {.plugin_digest = "abc", .platform = "cpu", .device_kind = "cpu", .precision = core::Precision::kBF16}};
  made.inputs.push_back({.info = {.name = "ids", .type = core::ElementType::kI64, .shape = {2, 5}}, .ids_end = 7});
  made.inputs.push_back({.info = {.name = "mask", .type = core::ElementType::kI64, .shape = {2, 5}},
                         .is_mask = true,
                         .may_be_unattended = true});
  made.outputs.push_back({.name = "vector", .type = core::ElementType::kF32, .shape = {2, 8}});
  made.program = bytes_of(kProgram);
  made.constants.push_back({.dims = {3, 4}, .element = Element::kBF16, .bytes = bytes_of(kWeight)});
  return made;
}

TEST(BlobTest, IsReadAsItWasWritten) {
  const std::string blob = write_blob(content());
  const auto read = read_blob(bytes_of(blob));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  const BlobContent wanted = content();
  EXPECT_EQ(read->origin, wanted.origin);
  EXPECT_EQ(read->inputs, wanted.inputs);
  ASSERT_EQ(read->outputs.size(), 1U);
  EXPECT_EQ(read->outputs[0].name, "vector");
  EXPECT_EQ(read->outputs[0].shape, (core::Shape{2, 8}));
  EXPECT_TRUE(std::ranges::equal(read->program, wanted.program));
  ASSERT_EQ(read->constants.size(), 1U);
  EXPECT_EQ(read->constants[0].dims, (Dims{3, 4}));
  EXPECT_EQ(read->constants[0].element, Element::kBF16);
  EXPECT_TRUE(std::ranges::equal(read->constants[0].bytes, wanted.constants[0].bytes));
  EXPECT_EQ((read->constants[0].bytes.data() - bytes_of(blob).data()) % 64, 0);
}

TEST(BlobTest, EveryChangedByteIsNoticed) {
  const std::string blob = write_blob(content());
  for (std::size_t i = 0; i < blob.size(); ++i) {
    std::string changed = blob;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    EXPECT_EQ(read_blob(bytes_of(changed)).status().code(), core::StatusCode::kIncompatibleBlob) << i;
  }
}

TEST(BlobTest, EveryLengthButItsOwnIsNoticed) {
  const std::string blob = write_blob(content());
  for (std::size_t size = 0; size < blob.size(); ++size)
    EXPECT_EQ(read_blob(bytes_of(blob).first(size)).status().code(), core::StatusCode::kIncompatibleBlob) << size;
  EXPECT_FALSE(read_blob(bytes_of(blob + std::string(64, '\0'))).ok());
}

// A blob whose sum is right and whose header is not.
core::Status read_with(const std::string& what, const std::string& instead) {
  std::string blob = write_blob(content());
  constexpr std::size_t kHead = 48;
  const std::size_t at = blob.find(what, kHead);
  EXPECT_NE(at, std::string::npos) << what;
  EXPECT_EQ(what.size(), instead.size());
  blob.replace(at, what.size(), instead);
  blob.replace(kHead - 32, 32, core::payload_sum(bytes_of(blob).subspan(kHead)));
  return read_blob(bytes_of(blob)).status();
}

TEST(BlobTest, AHeaderThatMakesNoSenseIsRefused) {
  EXPECT_TRUE(read_with("\"cpu\"", "\"CPU\"").ok());
  for (const auto& [what, instead] :
       std::initializer_list<std::pair<const char*, const char*>>{{"\"bf16\"", "\"zf16\""},
                                                                  {"\"f32\"", "\"i64\""},
                                                                  {"\"i64\"", "\"f32\""},
                                                                  {"[3,4]", "[3,5]"},
                                                                  {"[3,4]", "[0,4]"},
                                                                  {"\"size\":24", "\"size\":25"},
                                                                  {"\"offset\":64", "\"offset\":63"},
                                                                  {"\"offset\":0", "\"offset\":8"},
                                                                  {"\"size\":23", "\"size\":-1"},
                                                                  {"\"outputs\"", "\"ouTputs\""},
                                                                  {"\"shape\":[2,5]", "\"shape\": 2.55"},
                                                                  {"{\"origin\"", "[\"origin\""}}) {
    const core::Status status = read_with(what, instead);
    EXPECT_EQ(status.code(), core::StatusCode::kIncompatibleBlob) << what << " " << instead;
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace latebind::pjrt

#include "embedding/folder/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "embedding/folder/model_folder.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using ::testing::HasSubstr;

template <class Number>
std::string bytes_of(Number number) {
  std::string text;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    text += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xffU);
  return text;
}

// A file of version 3 with these values; the first version has counts of 32 bits.
struct GgufBuilder {
  std::uint32_t version = 3;
  std::string values{};
  std::uint64_t count = 0;

  [[nodiscard]] std::string size(std::uint64_t number) const {
    return version == 1 ? bytes_of(static_cast<std::uint32_t>(number)) : bytes_of(number);
  }
  [[nodiscard]] std::string text(std::string_view content) const { return size(content.size()).append(content); }
  GgufBuilder& value(std::string_view key, std::uint32_t type, std::string_view body) {
    values += text(key) + bytes_of(type);
    values += body;
    ++count;
    return *this;
  }
  GgufBuilder& text_value(std::string_view key, std::string_view content) { return value(key, 8, text(content)); }
  [[nodiscard]] std::string file() const { return "GGUF" + bytes_of(version) + size(0) + size(count) + values; }
};

std::optional<GgufOrigin> read(std::string_view file) {
  return read_gguf_origin(std::as_bytes(std::span(file.data(), file.size())));
}

// What comes before most files' origin.
GgufBuilder tokenizer_first(std::uint32_t version = 3) {
  GgufBuilder made{.version = version};
  made.text_value("general.architecture", "bert").text_value("general.name", "Tiny Bert");
  made.value("bert.block_count", 4, bytes_of(std::uint32_t{2})).value("bert.causal", 7, std::string(1, '\0'));
  made.value("tokenizer.ggml.tokens", 9, bytes_of(std::uint32_t{8}) + made.size(2) + made.text("a") + made.text("b"));
  made.value("tokenizer.ggml.scores", 9, bytes_of(std::uint32_t{6}) + made.size(2) + std::string(8, '\1'));
  return made;
}

TEST(GgufTest, TheRepositoryIsThatOfTheBestKey) {
  for (const std::uint32_t version : {1U, 2U, 3U}) {
    auto file = tokenizer_first(version);
    file.text_value("general.source.url", "https://example.org/paper");
    EXPECT_EQ(read(file.file())->repository, "https://example.org/paper") << version;
    file.text_value("general.base_model.0.repo_url", "https://huggingface.co/org/tiny-bert");
    EXPECT_EQ(read(file.file())->repository, "org/tiny-bert") << version;
    file.text_value("general.source.huggingface.repository", "org/other");
    const auto origin = read(file.file());
    EXPECT_EQ(origin->repository, "org/other") << version;
    EXPECT_EQ(origin->key, "general.source.huggingface.repository");
    EXPECT_EQ(origin->name, "Tiny Bert");
  }
}

TEST(GgufTest, OnlyTheHubsAddressesBecomeNames) {
  const auto repository = [](std::string_view address) {
    return read(GgufBuilder().text_value("general.source.repo_url", address).file())->repository;
  };
  EXPECT_EQ(repository("https://huggingface.co/org/na-me.v1_2/tree/main?x#y"), "org/na-me.v1_2");
  EXPECT_EQ(repository("https://huggingface.co/org/name/"), "org/name");
  EXPECT_EQ(repository("https://huggingface.co/org"), "https://huggingface.co/org");
  EXPECT_EQ(repository("https://huggingface.co/org/"), "https://huggingface.co/org/");
  EXPECT_EQ(repository("https://huggingface.co/o g/name"), "https://huggingface.co/o g/name");
  EXPECT_EQ(repository("https://github.com/org/name"), "https://github.com/org/name");
  EXPECT_EQ(repository(std::string(2000, 'a')), "") << "too long to be shown";
}

TEST(GgufTest, OtherFilesAreNone) {
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("GGU"));
  EXPECT_FALSE(read("ggml...................."));
  EXPECT_EQ(read("GGUF")->repository, "");
  EXPECT_EQ(read(tokenizer_first(4).file())->name, "") << "of a version that is not known";
}

TEST(GgufTest, DamageEndsTheReadingAndNothingElse) {
  auto made = tokenizer_first();
  made.value("x.nested", 9,
             bytes_of(std::uint32_t{9}) + made.size(1) + bytes_of(std::uint32_t{0}) + made.size(1) + "a");
  made.text_value("general.source.url", "https://example.org");
  const std::string whole = made.file();
  EXPECT_EQ(read(whole)->repository, "https://example.org");
  for (std::size_t size = 4; size < whole.size(); ++size)
    EXPECT_EQ(read(whole.substr(0, size))->repository, "") << size;
  for (std::size_t at = 4; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = '\xff';
    EXPECT_TRUE(read(damaged)) << at;
  }
}

TEST(GgufTest, ClaimsBeyondTheFileAreDamage) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  const auto with = [](std::uint32_t type, const std::string& body) {
    GgufBuilder made;
    made.value("x", type, body).text_value("general.name", "behind");
    made.count = kMost;
    return read(made.file())->name;
  };
  EXPECT_EQ(with(0, "a"), "behind");
  EXPECT_EQ(with(8, bytes_of(kMost)), "");
  EXPECT_EQ(with(13, ""), "");
  for (const std::uint32_t type : {0U, 8U, 9U, 12U, 13U, 0xffffffffU})
    EXPECT_EQ(with(9, bytes_of(type) + bytes_of(kMost)), "") << type;
  std::string deep;
  for (int i = 0; i < 100; ++i)
    deep += bytes_of(std::uint32_t{9}) + bytes_of(std::uint64_t{1});
  EXPECT_EQ(with(9, deep + bytes_of(std::uint32_t{0}) + bytes_of(std::uint64_t{0})), "");
}

class GgufFolderTest : public ::testing::Test {
 protected:
  void expect(const std::filesystem::path& place, std::initializer_list<std::string_view> parts) const {
    const auto model = ModelFolder::open(place);
    for (const std::string_view part : parts)
      EXPECT_THAT(model.status().to_string(), HasSubstr(part));
    EXPECT_THAT(model.status().to_string(), ::testing::Not(HasSubstr("\n")));
  }
  testing::ScratchFolder scratch_;
};

TEST_F(GgufFolderTest, WhatIsNotSupportedIsRefusedWithWhereToLook) {
  scratch_.write("tiny-Q8_0.gguf",
                 GgufBuilder().text_value("general.base_model.0.repo_url", "https://huggingface.co/org/tiny").file());
  expect(scratch_.path(), {"tiny-Q8_0.gguf", "GGUF", "latebind pull org/tiny", "general.base_model.0.repo_url"});
  expect(scratch_.path() / "tiny-Q8_0.gguf", {"tiny-Q8_0.gguf", "latebind pull org/tiny"});
  scratch_.write("tiny-Q8_0.gguf", GgufBuilder().text_value("general.source.url", "https://example.org/a\nb").file());
  expect(scratch_.path(), {"its general.source.url is 'https://example.org/a\\x0ab'"});
  scratch_.write("tiny-Q8_0.gguf", GgufBuilder().text_value("general.name", "Tiny Bert").file());
  expect(scratch_.path(), {"look for the repository", "model.safetensors", "'Tiny Bert'"});
  scratch_.write("tiny-Q8_0.gguf", "GGUF");
  expect(scratch_.path(), {"tiny-Q8_0.gguf", "is it cut short?"});
  scratch_.write("tiny-Q8_0.gguf", "no such file");
  expect(scratch_.path(), {"tiny-Q8_0.gguf", "not a GGUF file"});
}

TEST_F(GgufFolderTest, BesideWeightsOneDoesNotMatter) {
  scratch_.copy_tiny_bert();
  scratch_.write("tiny.gguf", "GGUF");
  EXPECT_TRUE(ModelFolder::open(scratch_.path()).ok());
  std::filesystem::remove(scratch_.path() / "model.safetensors");
  expect(scratch_.path(), {"tiny.gguf", "GGUF"});
}

}  // namespace
}  // namespace latebind::embedding

#include "core/platform/digest.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using testing::ScratchFolder;

std::string hex_of(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text)));
}

constexpr const char* kOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kOfAMillion = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

// The examples that NIST gives with FIPS 180.
TEST(DigestTest, GivesTheKnownAnswers) {
  EXPECT_EQ(hex_of(""), kOfNothing);
  EXPECT_EQ(hex_of("abc"), kOfAbc);
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                   "mnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')), kOfAMillion);
}

TEST(DigestTest, DoesNotDependOnHowTheBytesArrive) {
  const std::string text(100'000, 'a');
  for (const std::size_t step : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, text.size()}) {
    Sha256 digest;
    for (std::size_t at = 0; at < text.size(); at += step)
      digest.update(std::string_view(text).substr(at, step));
    digest.update(std::string_view());
    EXPECT_EQ(digest.hex(), hex_of(text)) << "in steps of " << step;
  }
}

TEST(DigestTest, IsUsedUpByItsAnswer) {
  Sha256 digest;
  digest.update("abc");
  EXPECT_EQ(digest.hex(), kOfAbc);
  digest.update("abc");
  EXPECT_EQ(digest.hex(), "");
}

TEST(DigestTest, GoesOnAfterAMove) {
  Sha256 first;
  first.update("a");
  Sha256 second = std::move(first);
  second.update("b");
  Sha256 third;
  third = std::move(second);
  third.update("c");
  EXPECT_EQ(third.hex(), kOfAbc);
}

TEST(DigestTest, ReadsFilesOfEveryLength) {
  const ScratchFolder folder;
  const auto file = folder / "file";
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{256} * 1024 - 1, std::size_t{256} * 1024,
                                 std::size_t{256} * 1024 + 1, std::size_t{1'000'000}}) {
    const std::string text(size, 'a');
    testing::write_file(file, text);
    const auto digest = sha256_hex_of_file(file);
    ASSERT_TRUE(digest.ok()) << digest.status().to_string();
    EXPECT_EQ(*digest, hex_of(text)) << size << " bytes";
  }
  EXPECT_EQ(*sha256_hex_of_file(file), kOfAMillion);
}

TEST(DigestTest, NamesAFileAsGitDoes) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "");
  EXPECT_EQ(*git_blob_name_of_file(folder / "file"), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  testing::write_file(folder / "file", "hello world\n");
  EXPECT_EQ(*git_blob_name_of_file(folder / "file"), "3b18e512dba79e4c8300dd08aeb37f8e728b8dad");
  EXPECT_EQ(git_blob_name_of_file(folder.path()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(git_blob_name_of_file(folder / "missing").status().code(), StatusCode::kNotFound);
}

TEST(DigestTest, NamesTheFileThatItCannotRead) {
  const ScratchFolder folder;
  const auto missing = sha256_hex_of_file(folder / "missing");
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_NE(missing.status().to_string().find((folder / "missing").string()), std::string::npos);
  testing::write_file(folder / "file", "x");
  EXPECT_EQ(sha256_hex_of_file(folder / "file" / "below").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(sha256_hex_of_file(folder.path()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(sha256_hex_of_file("").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace latebind::platform

#include "server/transport/target.h"

#include <gtest/gtest.h>

namespace latebind::server {
namespace {

std::string path_of(std::string_view text) {
  const auto target = Target::parse(text);
  return target ? target->path : "(none)";
}

TEST(TargetTest, ThePathIsDecodedAndTheQueryIsNot) {
  const auto target = Target::parse("/v1/models/a%20b%C3%A9?x=%201#y");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/v1/models/a b\xC3\xA9");
  EXPECT_EQ(target->query, "x=%201");
}

TEST(TargetTest, MayBeAbsolute) {
  EXPECT_EQ(path_of("http://host/a/b"), "/a/b");
  EXPECT_EQ(path_of("https://host:1/a"), "/a");
  EXPECT_EQ(path_of("HTTP://host/a"), "/a");
  EXPECT_EQ(path_of("http://host"), "/");
  const auto target = Target::parse("http://host?x=/y");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/");
  EXPECT_EQ(target->query, "x=/y");
}

TEST(TargetTest, ASlashInASegmentDividesNothing) {
  const auto target = Target::parse("/v1/models/org%2Fname");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/v1/models/org/name");
  EXPECT_EQ(target->segments, (std::vector<std::string>{"v1", "models", "org/name"}));
  EXPECT_EQ(Target::parse("/")->segments, std::vector<std::string>{""});
  EXPECT_EQ(Target::parse("//a/")->segments, (std::vector<std::string>{"", "a", ""}));
  EXPECT_TRUE(Target::parse("*")->segments.empty());
}

TEST(TargetTest, WhatIsNoPathIsRefused) {
  for (const std::string_view text : {"", "a", "?x", "/%", "/%1", "/%g0", "/%0g", "/%00", "/%ff", "/%c0%af",
                                      "/%ed%a0%80", "host:443", "ftp://host/a"}) {
    EXPECT_EQ(path_of(text), "(none)") << text;
  }
  EXPECT_EQ(path_of("*"), "*");
  EXPECT_EQ(path_of("%2A"), "(none)");
}

}  // namespace
}  // namespace latebind::server

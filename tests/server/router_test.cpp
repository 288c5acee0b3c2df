#include "server/router.h"

#include <gtest/gtest.h>

namespace latebind::server {
namespace {

using Segments = std::vector<std::string>;

TEST(RouterTest, FindsByMethodAndPath) {
  const Router router;
  const Segments path{"v1", "embeddings"};
  const auto match = router.find("POST", path);
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.route->path, "/v1/embeddings");
  EXPECT_EQ(match.protocol->name, "openai");
  EXPECT_EQ(match.allowed, "POST");
}

TEST(RouterTest, AnotherMethodOfAKnownPathIsToldWhichItHas) {
  const Router router;
  const Segments path{"v1", "models"};
  const auto match = router.find("DELETE", path);
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.path, "/v1/models");
  EXPECT_EQ(match.allowed, "GET, HEAD");
  EXPECT_EQ(match.protocol->name, "openai");
  EXPECT_NE(router.find("HEAD", path).route, nullptr);
}

TEST(RouterTest, TheErrorOfAnUnknownPathHasTheWordsOfItsNeighbours) {
  const Router router;
  EXPECT_EQ(router.find("GET", Segments{"v1", "nothing"}).protocol->name, "openai");
  EXPECT_EQ(router.find("GET", Segments{"nothing"}).protocol->name, "latebind");
  EXPECT_EQ(router.find("GET", Segments{"nothing"}).path, "");
  EXPECT_EQ(router.find("GET", Segments{"v1", "models", ""}).route, nullptr);
  EXPECT_EQ(router.find("GET", Segments{"v1", "models", "a", "b"}).route, nullptr);
  EXPECT_EQ(router.find("OPTIONS", Segments{}).route, nullptr);
}

TEST(RouterTest, AValueMayHaveASlashInIt) {
  const Router router;
  const auto match = router.find("GET", Segments{"v1", "models", "org/name"});
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.values, Segments{"org/name"});
}

}  // namespace
}  // namespace latebind::server

#include <gtest/gtest.h>

#include "server/transport/http_server.h"

namespace latebind::server {
namespace {

TEST(ListenAddressTest, ReadsWhatIsWritten) {
  const auto v4 = ListenAddress::parse("127.0.0.1:8080");
  ASSERT_TRUE(v4.ok());
  EXPECT_EQ(v4->host, "127.0.0.1");
  EXPECT_EQ(v4->port, 8080);
  EXPECT_TRUE(v4->is_local());
  const auto v6 = ListenAddress::parse("[::1]:0");
  ASSERT_TRUE(v6.ok());
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->port, 0);
  EXPECT_TRUE(v6->is_local());
  const auto path = ListenAddress::parse("unix:/run/x.sock");
  ASSERT_TRUE(path.ok());
  EXPECT_EQ(path->path, "/run/x.sock");
  EXPECT_TRUE(path->is_local());
  EXPECT_EQ(ListenAddress::parse("localhost:1")->host, "127.0.0.1");
}

TEST(ListenAddressTest, KnowsWhatOthersCanReach) {
  EXPECT_FALSE(ListenAddress::parse("0.0.0.0:1")->is_local());
  EXPECT_FALSE(ListenAddress::parse("[::]:1")->is_local());
  EXPECT_FALSE(ListenAddress::parse("192.168.0.1:1")->is_local());
  EXPECT_TRUE(ListenAddress::parse("127.1.2.3:1")->is_local());
}

TEST(ListenAddressTest, RefusesTheRest) {
  for (const char* text :
       {"", ":", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
        "example.org:80", "::1:80", "[::1]", "[::1:80", "unix:", "http://127.0.0.1:80"}) {
    EXPECT_FALSE(ListenAddress::parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace latebind::server

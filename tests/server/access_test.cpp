#include "server/access.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace latebind::server {
namespace {

namespace fs = std::filesystem;

class AccessTest : public testing::Test {
 protected:
  ~AccessTest() override { fs::remove(file_); }
  void write(const std::string& text) const { std::ofstream(file_) << text; }
  static HttpRequest with(const std::string& name, const std::string& value) {
    HttpRequest request;
    request.headers.emplace_back(name, value);
    return request;
  }
  const fs::path file_ = fs::temp_directory_path() / ("lb-keys-" + std::to_string(std::random_device{}()));
};

TEST_F(AccessTest, WithoutAFileEveryoneMayAsk) {
  const Access access("", "", {});
  EXPECT_FALSE(access.wants_key());
  EXPECT_TRUE(access.load_keys().ok());
  EXPECT_FALSE(access.why_not({}));
}

TEST_F(AccessTest, AnyKeyOfTheFileLetsIn) {
  write("# keys\n\n one \r\ntwo\n#three\nlast");
  Access access("", file_.string(), {});
  EXPECT_TRUE(access.why_not(with("x-api-key", "one")));  // nothing was read yet
  access.use(*access.load_keys());
  for (const char* key : {"one", "two", "last"}) {
    EXPECT_FALSE(access.why_not(with("x-api-key", key))) << key;
    for (const char* word : {"Bearer ", "bearer ", "BEARER ", "BeArEr  "})
      EXPECT_FALSE(access.why_not(with("authorization", std::string(word) + key))) << word << key;
  }
  for (const char* key : {"", "on", "one2", "#three", "three", "# keys"})
    EXPECT_TRUE(access.why_not(with("x-api-key", key))) << key;
  for (const char* value : {"one", "Bearer", "Bearer ", "Basic one", "Bearerone", "Bearer two one"})
    EXPECT_TRUE(access.why_not(with("authorization", value))) << value;
  EXPECT_TRUE(access.why_not({}));
}

TEST_F(AccessTest, TheOneKeyLetsInBesideThoseOfTheFile) {
  Access alone("single", "", {});
  EXPECT_TRUE(alone.wants_key());
  EXPECT_TRUE(alone.why_not(with("x-api-key", "single")));  // nothing was taken yet
  alone.use(*alone.load_keys());
  EXPECT_FALSE(alone.why_not(with("x-api-key", "single")));
  EXPECT_TRUE(alone.why_not(with("x-api-key", "one")));
  write("one\n");
  Access both("single", file_.string(), {});
  both.use(*both.load_keys());
  for (const char* key : {"single", "one"})
    EXPECT_FALSE(both.why_not(with("x-api-key", key))) << key;
  write("# none\n");
  EXPECT_FALSE(both.load_keys().ok()) << "the file was meant to have some";
}

TEST_F(AccessTest, AWrongKeyIsNoMissingKey) {
  Access access("single", "", {});
  access.use(*access.load_keys());
  const auto why = [&](const HttpRequest& request) { return std::string(access.why_not(request).value_or("")); };
  EXPECT_NE(why({}).find("the request has no key"), std::string::npos);
  EXPECT_NE(why(with("authorization", "Basic c2luZ2xl")).find("must be Bearer KEY"), std::string::npos);
  for (const auto& wrong : {with("authorization", "Bearer wrong"), with("x-api-key", "wrong")})
    EXPECT_EQ(why(wrong), "the request's key is not a key of this server");
}

TEST_F(AccessTest, AFileWithoutKeysOrWithoutAnythingIsAnError) {
  EXPECT_FALSE(Access("", file_.string(), {}).load_keys().ok());
  write("# none\n");
  EXPECT_FALSE(Access("", file_.string(), {}).load_keys().ok());
}

TEST_F(AccessTest, AKeyHasNoBlank) {
  for (const std::string line : {"secret # note", "secret\tnote", " secret note ", "secret\rnote"}) {
    write("# a note of its own\n\ngood\n" + line + "\n");
    const auto keys = Access("", file_.string(), {}).load_keys();
    ASSERT_FALSE(keys.ok()) << line;
    EXPECT_NE(keys.status().message().find("line 4"), std::string::npos) << keys.status().to_string();
    EXPECT_EQ(keys.status().to_string().find("secret"), std::string::npos) << keys.status().to_string();
  }
}

TEST_F(AccessTest, TheFileIsUtf8Text) {
  for (const std::string& text : {std::string("good\n\xff\n"), std::string("good\nb\0d\n", 9), std::string("\xc3\n")}) {
    write(text);
    const auto keys = Access("", file_.string(), {}).load_keys();
    ASSERT_FALSE(keys.ok()) << text;
    EXPECT_NE(keys.status().message().find("is not UTF-8 text"), std::string::npos) << keys.status().to_string();
  }
  write("sch\xc3\xb6n\n");
  Access access("", file_.string(), {});
  access.use(*access.load_keys());
  EXPECT_FALSE(access.why_not(with("x-api-key", "sch\xc3\xb6n")));
}

TEST_F(AccessTest, AnOriginIsWhatBrowsersSend) {
  for (const char* origin :
       {"*", "null", "https://a.org", "http://localhost:3000", "https://a.org:8443", "http://[::1]:8080",
        "http://127.0.0.1", "chrome-extension://abcdef", "https://a.org:80"}) {
    EXPECT_TRUE(check_origin(origin).ok()) << origin;
  }
  for (const char* none : {"",
                           "foo",
                           "a.org",
                           "https://a.org/",
                           "https://",
                           "https://a.org/page",
                           "https://A.org",
                           "HTTPS://a.org",
                           "https://a.org:443",
                           "http://a.org:80",
                           "https://a.org:",
                           "https://a.org:0",
                           "https://a.org:65536",
                           "https://a.org:8443/",
                           "https://*.a.org",
                           "https://u@a.org",
                           "https://a b.org",
                           "https://m\xc3\xbcller.de",
                           "http://::1",
                           "http://[::1",
                           "http://[::1]:80a0",
                           "http://[]",
                           "://a.org",
                           "https://a.org?x",
                           "https://a.org:80:80"}) {
    const auto checked = check_origin(none);
    ASSERT_FALSE(checked.ok()) << none;
    EXPECT_NE(checked.message().find("https://example.org"), std::string::npos) << none;
  }
}

TEST_F(AccessTest, OnlyKnownOriginsAreAllowed) {
  const Access none("", "", {});
  EXPECT_FALSE(none.has_origins());
  EXPECT_EQ(none.allowed_origin("https://a.org"), "");
  const Access some("", "", {"https://a.org", "https://b.org:1"});
  EXPECT_EQ(some.allowed_origin("https://a.org"), "https://a.org");
  EXPECT_EQ(some.allowed_origin("https://a.org.evil"), "");
  EXPECT_EQ(some.allowed_origin("http://a.org"), "");
  EXPECT_EQ(some.allowed_origin(""), "");
  EXPECT_EQ(Access("", "", {"*"}).allowed_origin("https://x"), "*");
}

}  // namespace
}  // namespace latebind::server

#include "server/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace latebind::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
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
  EXPECT_EQ(Router::refusal_of(match, "DELETE", "/v1/models").message, "/v1/models takes GET, HEAD, not 'DELETE'");
  EXPECT_NE(router.find("HEAD", path).route, nullptr);
}

TEST(RouterTest, APathMayBeWrittenAsPeoplesClientsMakeIt) {
  const Router router;
  for (const auto& [segments, path] :
       std::vector<std::pair<Segments, std::string>>{{{"v1", "embeddings", ""}, "/v1/embeddings"},
                                                     {{"", "v1", "embeddings"}, "/v1/embeddings"},
                                                     {{"v1", "", "embeddings", "", ""}, "/v1/embeddings"},
                                                     {{"embeddings"}, "/embeddings"},
                                                     {{"api", "v1", "embeddings"}, "/v1/embeddings"},
                                                     {{"openai", "v1", "embeddings"}, "/v1/embeddings"},
                                                     {{"api", "v1", "rerank", ""}, "/v1/rerank"},
                                                     {{"v3", "rerank"}, "/v3/rerank"},
                                                     {{"v2", "embed"}, "/v2/embed"},
                                                     {{"v1", "embed"}, "/v1/embed"},
                                                     {{"score"}, "/score"},
                                                     {{"v1", "score"}, "/v1/score"},
                                                     {{"", ""}, "/"},
                                                     {{""}, "/"}}) {
    const auto match = router.find("POST", segments);
    ASSERT_NE(match.route, nullptr) << path;
    EXPECT_EQ(match.path, path);
  }
  EXPECT_EQ(router.find("POST", Segments{"api", "embeddings"}).path, "/api/embeddings");
  EXPECT_EQ(router.find("POST", Segments{"api", "embed"}).protocol->name, "ollama");
  EXPECT_EQ(router.find("POST", Segments{"api", "rerank"}).route, nullptr);
}

TEST(RouterTest, AModelMayBeSeveralSegments) {
  const Router router;
  const auto values = [&](std::string_view method, const Segments& segments) {
    const auto match = router.find(method, segments);
    return std::pair(std::string(match.path), match.values);
  };
  using Found = std::pair<std::string, Segments>;
  EXPECT_EQ(values("GET", {"v1", "models", "an-org", "a"}), Found("/v1/models/{model}", {"an-org/a"}));
  EXPECT_EQ(values("GET", {"api", "v1", "models", "an-org", "a"}), Found("/v1/models/{model}", {"an-org/a"}));
  EXPECT_EQ(values("POST", {"v2", "models", "an-org", "a", "infer"}), Found("/v2/models/{model}/infer", {"an-org/a"}));
  EXPECT_EQ(values("POST", {"v2", "models", "an-org", "a", "versions", "1", "infer"}),
            Found("/v2/models/{model}/versions/{version}/infer", {"an-org/a", "1"}));
  EXPECT_EQ(values("GET", {"v2", "models", "srv", "an-org", "a", "ready"}),
            Found("/v2/models/{model}/ready", {"srv/an-org/a"}));
  EXPECT_EQ(values("GET", {"v2", "models", "a", "ready"}), Found("/v2/models/{model}/ready", {"a"}));
  EXPECT_EQ(values("HEAD", {"v1", "models", "an-org", "a"}), Found("/v1/models/{model}", {"an-org/a"}));
  // What is no model's name gets no advice about it.
  EXPECT_EQ(values("POST", {"v2", "models", "a", "generate"}), Found("", {}));
  EXPECT_EQ(router.find("OPTIONS", Segments{"v2", "models", "an-org", "a", "infer"}).allowed, "POST");
}

TEST(RouterTest, AnUnknownPathIsRefusedInTheWordsOfTheProtocolThatItResembles) {
  const Router router;
  for (const auto& [segments, protocol] :
       std::vector<std::pair<Segments, std::string>>{{{"v1", "nothing"}, "openai"},
                                                     {{"api", "v1", "nothing"}, "openai"},
                                                     {{"v1", "embeding"}, "openai"},
                                                     {{"v1", "embe"}, "cohere"},
                                                     {{"embedings"}, "openai"},
                                                     {{"v2", "nothing"}, "kserve"},
                                                     {{"api", "nothing"}, "ollama"},
                                                     {{"embed_sparce"}, "tei"},
                                                     {{"nothing"}, "latebind"}}) {
    const auto match = router.find("GET", segments);
    EXPECT_EQ(match.protocol->name, protocol) << segments.back();
    EXPECT_EQ(match.path, "");
    const Refusal refusal = Router::refusal_of(match, "GET", "/as/asked");
    EXPECT_EQ(refusal.kind, RefusalKind::kNotFound);
    EXPECT_THAT(refusal.message,
                AllOf(HasSubstr("no path '/as/asked'"), HasSubstr(std::string(match.protocol->routes().front().path)),
                      HasSubstr("/openapi.json")));
  }
  EXPECT_THAT(Router::refusal_of(router.find("POST", Segments{"v1", "embedings"}), "POST", "x").message,
              HasSubstr("/v1/embeddings is near"));
  EXPECT_EQ(router.find("OPTIONS", Segments{}).route, nullptr);
  EXPECT_EQ(router.find("GET", Segments{}).path, "");
  // However long it is.
  const Refusal refusal =
      Router::refusal_of(router.find("GET", Segments{std::string(5000, 'x')}), "GET", "/" + std::string(5000, 'x'));
  EXPECT_LT(refusal.message.size(), 1000U);
}

TEST(RouterTest, APathThatGeneratesTextIsToldThatThisServerDoesNot) {
  const Router router;
  for (const auto& [segments, protocol] :
       std::vector<std::pair<Segments, std::string>>{{{"v1", "chat", "completions"}, "openai"},
                                                     {{"v1", "completions"}, "openai"},
                                                     {{"v1", "responses"}, "openai"},
                                                     {{"v3", "chat", "completions"}, "openai"},
                                                     {{"chat", "completions"}, "openai"},
                                                     {{"api", "v1", "chat", "completions"}, "openai"},
                                                     {{"v1", "messages"}, "openai"},
                                                     {{"api", "generate"}, "ollama"},
                                                     {{"api", "chat"}, "ollama"},
                                                     {{"v2", "chat"}, "cohere"},
                                                     {{"generate"}, "tei"},
                                                     {{"v2", "models", "a", "generate"}, "kserve"}}) {
    const auto match = router.find("POST", segments);
    EXPECT_EQ(match.protocol->name, protocol) << segments.back();
    EXPECT_THAT(Router::refusal_of(match, "POST", "/").message,
                HasSubstr("this server computes embeddings and does not generate text"));
  }
}

TEST(RouterTest, AValueMayHaveASlashInIt) {
  const Router router;
  const auto match = router.find("GET", Segments{"v1", "models", "org/name"});
  ASSERT_NE(match.route, nullptr);
  EXPECT_EQ(match.values, Segments{"org/name"});
}

}  // namespace
}  // namespace latebind::server

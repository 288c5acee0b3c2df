#include "server/protocols/openapi.h"

#include <gtest/gtest.h>

#include <string>

#include "core/text/ascii.h"
#include "server/protocols/route.h"

namespace latebind::server {
namespace {

TEST(OpenApiTest, HasEveryRouteWithItsBodyAndAnswers) {
  const app::Json document = openapi_document();
  for (const Protocol* protocol : protocols()) {
    for (const Route& route : protocol->routes()) {
      const std::string method = core::ascii_lowered(route.method);
      SCOPED_TRACE(method + " " + std::string(route.path));
      const app::Json& operation = document["paths"][std::string(route.path)][method];
      EXPECT_FALSE(operation["summary"].get<std::string>().empty());
      EXPECT_EQ(operation["tags"], app::Json::array({std::string(protocol->name)}));
      EXPECT_EQ(operation.contains("requestBody"), route.body != nullptr);
      for (const AnswerDoc& answer : route.answers) {
        const app::Json& one = operation["responses"][std::to_string(answer.status)];
        if (answer.content_type.empty()) continue;
        EXPECT_FALSE(one["content"][std::string(answer.content_type)]["schema"].empty());
      }
    }
  }
}

}  // namespace
}  // namespace latebind::server

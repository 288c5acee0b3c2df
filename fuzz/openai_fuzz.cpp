// The bodies of OpenAI's protocol: whatever they are, they get one answer, which is no success where no model is.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/protocols/route.h"

using namespace latebind::server;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Service& service = *new Service(ServiceLimits{}, [](const std::function<void()>& work) { work(); });
  static const Route& route = [&]() -> const Route& {
    for (const Route& one : openai_protocol().routes()) {
      if (one.path == "/v1/embeddings") return one;
    }
    std::abort();
  }();
  HttpRequest request;
  request.method = "POST";
  request.body.assign(reinterpret_cast<const char*>(data), size);
  unsigned answers = 0;
  {
    const auto exchange = std::make_shared<Exchange>(std::move(request), [&answers](const HttpResponse& response) {
      ++answers;
      if (response.status != 400 && response.status != 503) std::abort();
      if (response.body.empty()) std::abort();
    });
    route.handle(exchange, {}, service);
  }
  if (answers != 1) std::abort();
  return 0;
}

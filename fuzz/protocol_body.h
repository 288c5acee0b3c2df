// The bodies of a protocol's requests: whatever they are, each gets one answer, which is no success where no model is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "server/protocols/route.h"

namespace latebind::fuzz {

// A line with one of the protocol's paths, then the body for it. Without such a line all of it is a body for the first
// path that takes one.
inline int answer_body(const server::Protocol& protocol, const std::uint8_t* data, std::size_t size) {
  using namespace latebind::server;
  static Service& service =
      *new Service(ServiceLimits{}, [](const std::function<void()>& work, bool /*is_large*/) { work(); });
  std::string_view body(reinterpret_cast<const char*>(data), size);
  const std::string_view line = body.substr(0, body.find('\n'));
  const Route* chosen = nullptr;
  for (const Route& route : protocol.routes()) {
    if (route.body == nullptr) continue;
    if (route.path == line) {
      chosen = &route;
      body.remove_prefix(std::min(line.size() + 1, body.size()));
      break;
    }
    if (chosen == nullptr) chosen = &route;
  }
  if (chosen == nullptr) std::abort();
  HttpRequest request;
  request.method = "POST";
  request.body = body;
  unsigned answers = 0;
  {
    const auto exchange = std::make_shared<Exchange>(std::move(request), [&answers](const HttpResponse& response) {
      ++answers;
      if (response.status < 400 || response.status > 599 || response.body.empty()) std::abort();
    });
    chosen->handle(exchange, {}, service);
  }
  if (answers != 1) std::abort();
  return 0;
}

}  // namespace latebind::fuzz

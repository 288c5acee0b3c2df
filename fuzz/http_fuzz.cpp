// The HTTP front: a connection in memory whose client sends the fuzzer's bytes, in pieces whose sizes these bytes say.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/transport/http_session.h"
#include "tests/server/transport/piece_stream.h"

using namespace latebind::server;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  boost::asio::io_context io;
  const auto client = std::make_shared<PieceClient>();
  unsigned ended = 0;
  HttpSession::Shared shared;
  shared.options.head_bytes_max = 512;
  shared.options.body_bytes_max = 1024;
  shared.handler = [&shared](const ExchangePtr& exchange) {
    const HttpRequest& request = exchange->request();
    require(!request.method.empty() && !request.path.empty() && request.path.find('\0') == std::string::npos);
    require(request.body.size() <= shared.options.body_bytes_max);
    std::size_t head = 0;
    for (const auto& [name, value] : request.headers) {
      require(!name.empty() && value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
      head += name.size() + value.size();
    }
    require(head <= shared.options.head_bytes_max);
    HttpResponse response;
    response.body = request.path;
    exchange->answer(std::move(response));
  };
  shared.held = std::make_shared<HeldBytes>(std::uint64_t{1} << 20);
  shared.screen = [](const HttpRequest&) { return std::nullopt; };
  shared.is_probe = [](const HttpRequest& head) { return head.path == "/health"; };
  shared.refuse = [](const Refusal& refusal, unsigned status, const HttpRequest*) {
    HttpResponse response;
    response.status = status;
    response.body = refusal.message;
    return response;
  };
  shared.on_end = [&ended](HttpSession* /*session*/) { ++ended; };

  const bool is_beyond_limit = (data[0] & 0x80U) != 0;
  const std::size_t step = (data[0] & 0x7fU) == 0 ? size : data[0] & 0x7fU;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  for (std::size_t at = 0; at < bytes.size(); at += step)
    client->pieces.emplace_back(bytes.substr(at, step));
  client->has_ended = true;
  {
    const auto session = std::make_shared<HttpSession>(std::make_unique<PieceStream>(io, client), shared);
    if (is_beyond_limit) {
      session->start_beyond_limit();
    } else {
      session->start();
    }
  }
  io.run();
  // Whatever was sent, the session is over, and what it said is HTTP.
  require(ended == 1);
  require(client->received.empty() || client->received.starts_with("HTTP/1.1 "));
  return 0;
}

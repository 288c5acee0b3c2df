// The head of an HTTP response as bytes. Stateless; any thread.
#pragma once

#include <string>

#include "server/transport/http_message.h"

namespace latebind::server {

// What the response says about its connection.
enum class ConnectionHeader {
  kNone,       // HTTP/1.1: it stays open
  kKeepAlive,  // HTTP/1.0, whose clients otherwise expect the end
  kClose,
};

// The status line and the headers, with Date, Content-Length and Connection. Replaces what `out` holds.
void write_response_head(const HttpResponse& response, ConnectionHeader connection, std::string& out);

}  // namespace latebind::server

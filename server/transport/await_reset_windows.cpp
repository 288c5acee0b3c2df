#include <boost/asio/post.hpp>
#include <utility>

#include "server/transport/stream.h"

namespace latebind::server {

// Windows only reports a reset to a read, and reads have ended.
void await_reset_of(Stream::Socket& socket, Stream::OnDone done) {
  boost::asio::post(socket.get_executor(), [done = std::move(done)] { done({}); });
}

}  // namespace latebind::server

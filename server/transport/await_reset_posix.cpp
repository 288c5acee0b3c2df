#include <utility>

#include "server/transport/stream.h"

namespace latebind::server {

// The end of the peer's direction alone is no error.
void await_reset_of(Stream::Socket& socket, Stream::OnDone done) {
  socket.async_wait(Stream::Socket::wait_error, std::move(done));
}

}  // namespace latebind::server

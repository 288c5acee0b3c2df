#include <utility>

#include "server/transport/stream.h"

namespace latebind::server {

// The end of the peer's direction alone does not complete the wait.
void await_reset_of(Stream::Socket& socket, Stream::OnDone done) {
  socket.async_wait(Stream::Socket::wait_error, std::move(done));
}

}  // namespace latebind::server

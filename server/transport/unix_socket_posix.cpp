#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <system_error>

#include "core/platform/files/folder_lock.h"
#include "core/platform/files/leftovers.h"
#include "core/text/quote.h"
#include "server/transport/unix_socket.h"

namespace latebind::server {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using boost::system::error_code;
using core::Status;
using core::StatusCode;

namespace {

using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;

// Whether the path is a socket on which no process listens.
bool is_left_over(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_socket(fs::symlink_status(path, ignored))) return false;
  asio::io_context io;
  asio::local::stream_protocol::socket probe(io);
  error_code error;
  probe.connect(asio::local::stream_protocol::endpoint(path), error);
  return error == asio::error::connection_refused;
}

// From here on, a signal that ends the process removes the socket.
void bind(const std::string& path, const asio::local::stream_protocol::endpoint& endpoint, Acceptor& acceptor,
          error_code& error) {
  const auto made = platform::make_leftover([&]() -> core::Result<fs::path> {
    acceptor.bind(endpoint, error);
    if (error) return Status(StatusCode::kIo, error.message());
    return fs::path(path);
  });
  static_cast<void>(made);
}

}  // namespace

Status listen_at_path(const std::string& path, Acceptor& acceptor) {
  constexpr std::size_t kPathMax = 107;  // the kernel's limit
  if (path.size() > kPathMax) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("the path of a Unix socket has at most {} bytes; this one has {}", kPathMax, path.size()));
  }
  // Serialises starts, because between bind() and listen() a socket looks abandoned.
  const platform::FolderLock lock(fs::path(path).parent_path());
  if (is_left_over(path)) {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  const asio::local::stream_protocol::endpoint endpoint(path);
  error_code error;
  acceptor.open(asio::generic::stream_protocol(endpoint.protocol()), error);
  if (!error) bind(path, endpoint, acceptor, error);
  if (!error) {
    // The folder's permissions and group decide who may connect, before any client can.
    std::error_code ignored;
    fs::permissions(
        path, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::group_write, ignored);
  }
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    platform::drop_leftover(path);
    return Status(error == asio::error::address_in_use ? StatusCode::kBusy : StatusCode::kIo,
                  fmt::format("cannot listen at unix:{}: {}", core::quoted(path), error.message()));
  }
  return {};
}

void remove_socket_file(const std::string& path) noexcept {
  try {
    platform::drop_leftover(path);  // the path may belong to another process by now
    const platform::FolderLock lock(fs::path(path).parent_path());
    if (!is_left_over(path)) return;
    std::error_code ignored;
    fs::remove(path, ignored);
  } catch (const std::exception&) {
    // The socket remains, and the next start replaces it.
  }
}

}  // namespace latebind::server

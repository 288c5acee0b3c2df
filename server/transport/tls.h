// TLS for the server's connections: versions 1.2 and 1.3 with the library's default ciphers.
//
// Internal to the transport. In builds without TLS (Windows), create() returns kUnsupported.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "server/transport/stream.h"

namespace latebind::server {

// A certificate and its key. Constant; the connections that began with it share it.
class TlsContext {
 public:
  virtual ~TlsContext() = default;
  [[nodiscard]] virtual std::unique_ptr<Stream> stream(Stream::Socket socket) const = 0;

  // Reads PEM files of at most 1 MiB: the chain, beginning with the server's certificate, and its key without a
  // password. Errors name the file, also if it is not a regular file. Logs a warning for a certificate that has expired
  // or is not valid yet.
  static core::Result<std::shared_ptr<const TlsContext>> create(const std::string& certificate_file,
                                                                const std::string& key_file);
};

}  // namespace latebind::server

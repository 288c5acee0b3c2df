// TLS of the server's connections: 1.2 and 1.3, with the library's usual ciphers.
//
// Internal to the transport. Where the build has no TLS (Windows), create() is kUnsupported.
#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "server/transport/stream.h"

namespace latebind::server {

// Certificate and key. Constant; shared by the connections that began with it.
class TlsContext {
 public:
  virtual ~TlsContext() = default;
  [[nodiscard]] virtual std::unique_ptr<Stream> stream(Stream::Socket socket) const = 0;

  // PEM files of at most 1 MiB: the chain, the server's own first, and its key, without a password. An error names the
  // file, also one that is no regular file. Warns in the log of a certificate that has expired or is not valid yet.
  static core::Result<std::shared_ptr<const TlsContext>> create(const std::string& certificate_file,
                                                                const std::string& key_file);
};

}  // namespace latebind::server

#include "server/transport/tls.h"

namespace latebind::server {

core::Result<std::shared_ptr<const TlsContext>> TlsContext::create(const std::string& /*certificate_file*/,
                                                                   const std::string& /*key_file*/) {
  return core::Status(core::StatusCode::kUnsupported,
                      "the Windows build does not support TLS; put a proxy with TLS in front of the server");
}

}  // namespace latebind::server

#include "server/transport/tls.h"

namespace latebind::server {

core::Result<std::shared_ptr<const TlsContext>> TlsContext::create(const std::string& /*certificate_file*/,
                                                                   const std::string& /*key_file*/) {
  return core::Status(core::StatusCode::kUnsupported,
                      "TLS is not part of the build for Windows; put a proxy with TLS before the server");
}

}  // namespace latebind::server

// The bodies of text-embeddings-inference's protocol.
#include "fuzz/protocol_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return latebind::fuzz::answer_body(latebind::server::tei_protocol(), data, size);
}

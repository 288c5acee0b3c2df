// The bodies of Ollama's protocol.
#include "fuzz/protocol_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return latebind::fuzz::answer_body(latebind::server::ollama_protocol(), data, size);
}

// Differences: the input as one from a fixed source, and as what is made of that source.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "core/bundle/vcdiff.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  std::string source;
  for (int i = 0; i < 1000; ++i)
    source += static_cast<char>(i * i / 7);
  // The first byte says how much is expected.
  std::vector<std::byte> target(size > 0 ? std::size_t{data[0]} * 4 : 0);
  const auto status =
      latebind::core::apply_vcdiff(bytes_of(source), bytes_of(size > 0 ? input.substr(1) : input), target, "fuzz");
  require(status.ok() || status.to_string().find('\n') == std::string::npos);

  const auto difference =
      latebind::core::vcdiff_of(bytes_of(source + input), bytes_of(input + source), size * 2 + 4096);
  require(difference.has_value());
  std::vector<std::byte> back(input.size() + source.size());
  require(latebind::core::apply_vcdiff(bytes_of(source + input), bytes_of(*difference), back, "fuzz").ok());
  require(std::string(reinterpret_cast<const char*>(back.data()), back.size()) == input + source);
  return 0;
}

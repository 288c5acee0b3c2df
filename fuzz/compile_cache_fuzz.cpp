// Entries of the compile cache: whatever the file holds, it is refused or is what its sums say.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "core/cache/compile_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace latebind::core;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto entry = parse_entry(bytes);
  if (entry.ok() && check_payload(*entry).ok()) {
    // What was accepted can be written again and says the same.
    const auto head = entry_head(entry->header);
    if (!head.ok()) return 0;  // written with escapes it may be too long
    std::string again = *head;
    again.append(reinterpret_cast<const char*>(entry->payload.data()), entry->payload.size());
    const auto second = parse_entry(std::as_bytes(std::span(again)));
    if (!second.ok() || second->header.key != entry->header.key) std::abort();
  }
  // Past the sums, which a fuzzer does not guess: the input as the header of an entry that is right otherwise.
  const EntryHeader header{.key = std::string(reinterpret_cast<const char*>(data), size < 4096 ? size : 4096),
                           .model = "m",
                           .device = "d",
                           .runtime_version = "v",
                           .precision = "f32",
                           .payload_sum = payload_sum(bytes),
                           .payload_size = size};
  const auto head = entry_head(header);
  if (!head.ok()) return 0;
  std::string whole = *head;
  whole.append(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_entry(std::as_bytes(std::span(whole)));
  if (size > 0 && (!parsed.ok() || !check_payload(*parsed).ok())) std::abort();
  return 0;
}

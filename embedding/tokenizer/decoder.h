// Decoder: from the tokens of a text back to a text that people can read. What normalizing took away stays lost.
//
// One file for each in decoders/; part_table.h has them by name. Immutable, any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace latebind::embedding {

class Decoder {
 public:
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  [[nodiscard]] virtual std::string decode(std::span<const std::string_view> tokens) const = 0;
};

using DecoderPtr = std::unique_ptr<const Decoder>;

}  // namespace latebind::embedding

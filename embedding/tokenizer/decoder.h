// Decoder: makes readable text from the tokens of a text. Information that normalizing removed stays lost.
//
// A decoder turns pieces of text into other pieces, and the last pieces, joined, are the text. Therefore decoders can
// be chained.
//
// Each decoder is a file in decoders/; part_table.h lists them by name. Immutable, any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace latebind::embedding {

class Decoder {
 public:
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  // The greatest ratio of the length of the result to that of the tokens, apart from a constant.
  [[nodiscard]] virtual std::size_t growth() const { return 3; }
  [[nodiscard]] virtual std::vector<std::string> decode(std::vector<std::string> tokens) const = 0;
};

using DecoderPtr = std::unique_ptr<const Decoder>;

}  // namespace latebind::embedding

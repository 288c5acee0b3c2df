// Decoder: from the tokens of a text back to a text that people can read. What normalizing took away stays lost.
//
// It makes other pieces of text of the tokens, and these joined are the text: so decoders can follow each other.
//
// One file for each in decoders/; part_table.h has them by name. Immutable, any thread.
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

  // How many times as long as the tokens what comes out can be at most, apart from what is always the same.
  [[nodiscard]] virtual std::size_t growth() const { return 3; }
  [[nodiscard]] virtual std::vector<std::string> decode(std::vector<std::string> tokens) const = 0;
};

using DecoderPtr = std::unique_ptr<const Decoder>;

}  // namespace latebind::embedding

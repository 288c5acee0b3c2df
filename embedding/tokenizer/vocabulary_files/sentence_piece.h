// SentencePieceModel: what a tokenizer needs of a model of SentencePiece, a file of Protobuf: the pieces with their
// scores, and the map of characters.
//
// Source of the format: google/sentencepiece, src/sentencepiece_model.proto. Views into the file's bytes, which must
// outlive them; a pure function, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::embedding {

struct SentencePieceModel {
  enum class Type : std::uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };
  struct Piece {
    std::string_view text{};  // UTF-8
    float score = 0.0F;       // finite
    Type type = Type::kNormal;
  };

  std::vector<Piece> pieces;         // by id
  std::string_view character_map{};  // as Precompiled has it; empty: characters stay

  // kInvalidModel with the byte at which it is damaged, kUnsupported for a model that is no Unigram model, or has more
  // pieces than a vocabulary may have. A file without one of its parts is one that was cut.
  static core::Result<SentencePieceModel> read(std::span<const std::byte> file);
};

}  // namespace latebind::embedding

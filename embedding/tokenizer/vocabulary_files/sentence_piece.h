// SentencePieceModel: the parts of a SentencePiece model, a Protobuf file, that a tokenizer needs: the pieces with
// their scores, and the map of characters.
//
// Source of the format: google/sentencepiece, src/sentencepiece_model.proto. It has views into the file's bytes, which
// must outlive it. A pure function, any thread.
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
  std::string_view character_map{};  // in the form of Precompiled; empty: characters stay unchanged

  // Returns kInvalidModel with the position of the damage, and kUnsupported for a model that is not a Unigram model or
  // has more pieces than a vocabulary may have. A file that lacks one of its parts was truncated.
  static core::Result<SentencePieceModel> read(std::span<const std::byte> file);
};

}  // namespace latebind::embedding

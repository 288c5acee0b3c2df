// The names of the kinds of models, in reports and arguments.
#pragma once

#include <array>
#include <string_view>

#include "core/config.h"
#include "embedding/encoder_kind.h"

namespace latebind::core {

template <>
struct Words<embedding::EncoderKind> {
  static constexpr std::string_view kWhat = "kind of model";
  static constexpr std::array kWords{
      Word<embedding::EncoderKind>{"embedder", embedding::EncoderKind::kEmbedder},
      Word<embedding::EncoderKind>{"cross-encoder", embedding::EncoderKind::kCrossEncoder},
      Word<embedding::EncoderKind>{"sparse encoder", embedding::EncoderKind::kSparseEncoder},
      Word<embedding::EncoderKind>{"multi-vector encoder", embedding::EncoderKind::kMultiVectorEncoder}};
};

}  // namespace latebind::core

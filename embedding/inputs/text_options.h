// TextOptions: how the texts of one call are treated, and what its vectors are like. A value.
#pragma once

#include <cstddef>

#include "embedding/inputs/prompts.h"
#include "embedding/inputs/text_role.h"

namespace latebind::embedding {

// Per-call deviations from how the encoder was opened.
struct TextOptions {
  // Only the first numbers of a vector, normalised again where it was (Kusupati et al., "Matryoshka Representation
  // Learning", 2022: for models trained for this); 0: all.
  std::size_t dimensions = 0;
  // Tokens of one text, special tokens included, at most as many as the encoder takes, which is also the meaning of 0.
  std::size_t max_tokens = 0;
  // A longer text is kTextTooLong, instead of being cut.
  bool refuse_longer = false;
  // A longer text is cut at its beginning instead of its end.
  bool keep_end = false;
  // Vectors of length 1, even if the model does not normalise.
  bool normalize = false;
  // What the texts are: a model may have a prompt or a route for it.
  TextRole role = TextRole::kUnspecified;
  // What is put before every text instead of what the model says. With token ids there is no choice to make.
  PromptChoice prompt{};
};

}  // namespace latebind::embedding

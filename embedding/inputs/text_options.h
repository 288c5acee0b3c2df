// TextOptions: the treatment of the texts of one call, and the shape of their vectors. A value.
#pragma once

#include <cstddef>

#include "embedding/inputs/prompts.h"
#include "embedding/inputs/text_role.h"

namespace latebind::embedding {

// The options of one call, which override those of the encoder.
struct TextOptions {
  // Keeps only the first numbers of a vector, normalised again if the vector was (Kusupati et al., "Matryoshka
  // Representation Learning", 2022: for models trained for this). 0 keeps all.
  std::size_t dimensions = 0;
  // The most tokens of one text, special tokens included, up to the encoder's limit. 0 selects that limit.
  std::size_t max_tokens = 0;
  // Return kTextTooLong for a longer text instead of cutting it.
  bool refuse_longer = false;
  // Cut a longer text at its beginning instead of its end.
  bool keep_end = false;
  // Give vectors of length 1, even if the model does not normalise.
  bool normalize = false;
  // The role of the texts, for which a model may have a prompt or a route.
  TextRole role = TextRole::kUnspecified;
  // The prompt, instead of the model's choice. Token ids accept no prompt but "".
  PromptChoice prompt{};
};

}  // namespace latebind::embedding

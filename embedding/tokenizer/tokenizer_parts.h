// TokenizerParts: the parts of one tokenizer, in the order in which a text passes them. A value with one owner.
#pragma once

#include "embedding/tokenizer/normalizer.h"
#include "embedding/tokenizer/post_processor.h"
#include "embedding/tokenizer/pre_tokenizer.h"
#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding {

struct TokenizerParts {
  NormalizerPtr normalizer;       // null: texts stay unchanged
  PreTokenizerPtr pre_tokenizer;  // null: a text is one word
  TokenModelPtr model;
  PostProcessor post_processor;
};

}  // namespace latebind::embedding

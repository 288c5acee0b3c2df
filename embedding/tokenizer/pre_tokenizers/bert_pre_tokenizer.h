// BertPreTokenizer: words end at white space, and each punctuation mark is a word by itself. Immutable, any thread.
#pragma once

#include "embedding/tokenizer/pre_tokenizer.h"

namespace latebind::embedding {

class BertPreTokenizer final : public PreTokenizer {
 public:
  bool split(std::string_view text, WordSink& sink) const override;
};

}  // namespace latebind::embedding

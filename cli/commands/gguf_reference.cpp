#include "cli/commands/gguf_reference.h"

namespace latebind::cli {

std::string_view gguf_reference() {
  return "## GGUF\n\n"
         "A file of llama.cpp's is a model by itself: `latebind embed MODEL.gguf`, a folder with one such file and no "
         "other\n"
         "weights, or the name of a repository with one. What a folder would say comes from its metadata: the network, "
         "the\n"
         "tokenizer, the pooling. Vectors have length 1, as those of llama.cpp's programs, unless the file says "
         "otherwise;\n"
         "no file has prompts, so give them (`--prompt`). `latebind inspect` prints the types of the weights.\n\n"
         "| | supported |\n"
         "|---|---|\n"
         "| architectures | `bert` (RoBERTa and XLM-RoBERTa, too, and their rerankers), `nomic-bert`, `qwen2`, "
         "`qwen3`, "
         "`llama`, `gemma`, `gemma-embedding`, `gemma3` without a causal mask |\n"
         "| types | F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K |\n"
         "| tokenizers | `bert`, `llama` (scored pieces), `gpt2` (merges, with the named pre-tokenizers of "
         "`llama-bpe`, "
         "`qwen2`, `gpt-2` and their like), `t5` (Unigram) |\n\n"
         "Anything else is refused by name: other keys, tensors and types, files in parts, scaled positions as of "
         "Llama "
         "3.1,\n"
         "rerankers of decoders. Quantized weights have the numbers of llama.cpp, bit for bit. They are computed as "
         "f32 when "
         "a\n"
         "device asks for them, and `native` never holds more of them than it packs: with `--precision int8` one byte "
         "for\n"
         "each. Results were compared with `transformers` on the same numbers (`tests/data/gguf/make.py`), tokens with "
         "the\n"
         "vocabularies and texts that llama.cpp tests with.\n\n";
}

}  // namespace latebind::cli

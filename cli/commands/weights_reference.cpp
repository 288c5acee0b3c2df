#include "cli/commands/weights_reference.h"

namespace latebind::cli {

std::string_view weights_reference() {
  return "## Weights\n\n"
         "The first of these forms that a folder has is used, and is the one that `latebind pull` downloads:\n\n"
         "1. `model.safetensors`, or its pieces, which `model.safetensors.index.json` lists;\n"
         "2. `pytorch_model.bin`, or its pieces, which `pytorch_model.bin.index.json` lists, as "
         "`torch.save()` writes them:\n"
         "   the ZIP of today, or the format of releases before 1.6;\n"
         "3. `onnx/model.onnx` or `model.onnx`.\n\n"
         "Nothing in a file of `torch.save()` is executed: its tensors are read as data, and anything else is "
         "refused by\n"
         "name. Weights of f32, f16 and bf16 are used; other types are refused when a network needs them.\n\n"
         "A folder with `adapter_config.json` (PEFT's LoRA, rsLoRA and DoRA) opens with its base, the model that\n"
         "`base_model_name_or_path` names: a folder, or a name on the hub. Latebind merges the adapter into the "
         "weights when\n"
         "it opens the model ([decision](decisions/0184-adapters.md)).\n\n"
         "## GGUF\n\n"
         "A GGUF file of llama.cpp is a complete model. Give its path (`latebind embed MODEL.gguf`), a folder with one "
         "such\n"
         "file and no other weights, or the name of such a repository. The file's metadata describes the network, the\n"
         "tokenizer and the pooling. Vectors have length 1, as in llama.cpp's programs, unless the file says "
         "otherwise. GGUF\n"
         "has no prompts, so give them with `--prompt`. `latebind inspect` prints the types of the weights.\n\n"
         "| | supported |\n"
         "|---|---|\n"
         "| architectures | `bert` (also RoBERTa and XLM-RoBERTa, and their rerankers), `nomic-bert`, "
         "`qwen2`, `qwen3`, `llama`, `gemma`, `gemma-embedding`, `gemma3` without a causal mask |\n"
         "| types | F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K |\n"
         "| tokenizers | `bert`, `llama` (scored pieces), `gpt2` (merges, with the pre-tokenizers of `llama-bpe`, "
         "`qwen2`, `gpt-2` and similar ones), `t5` (Unigram) |\n\n"
         "Latebind refuses anything else, with an error that names it: other keys, tensors and types, split files, "
         "scaled\n"
         "positions such as Llama 3.1's, and decoder rerankers. Quantized weights are dequantized to f32 when a device "
         "reads\n"
         "them, to the same bits as in llama.cpp. `native` stores only the weights that it packs: one byte each with\n"
         "`--precision int8`. Results were compared with `transformers` on the same numbers "
         "(`tests/data/gguf/make.py`), and\n"
         "tokens with the vocabularies and texts of llama.cpp's tests.\n\n";
}

}  // namespace latebind::cli

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/json/read.h"
#include "core/text/nearest_word.h"
#include "embedding/architectures/albert.h"
#include "embedding/architectures/architecture.h"
#include "embedding/architectures/bert.h"
#include "embedding/architectures/deberta.h"
#include "embedding/architectures/distilbert.h"
#include "embedding/architectures/eurobert.h"
#include "embedding/architectures/gemma.h"
#include "embedding/architectures/gemma2.h"
#include "embedding/architectures/gemma3.h"
#include "embedding/architectures/gte.h"
#include "embedding/architectures/jina_v3.h"
#include "embedding/architectures/jina_v5.h"
#include "embedding/architectures/lfm2.h"
#include "embedding/architectures/llama.h"
#include "embedding/architectures/longformer.h"
#include "embedding/architectures/mistral.h"
#include "embedding/architectures/modernbert.h"
#include "embedding/architectures/modernbert_decoder.h"
#include "embedding/architectures/mpnet.h"
#include "embedding/architectures/nomic_bert.h"
#include "embedding/architectures/qwen2.h"
#include "embedding/architectures/qwen3.h"
#include "embedding/architectures/roberta.h"
#include "embedding/architectures/t5.h"
#include "embedding/architectures/xlm_roberta_xl.h"

namespace latebind::embedding {
namespace {

constexpr std::string_view kRandomWeights = "random weights";
constexpr std::string_view kAsRoberta = "not separately: it is RoBERTa's network";
constexpr std::string_view kAsGte = "not separately: it is GTE's network";
constexpr std::string_view kAsQwen3 = "not separately: it is Qwen3's network";
constexpr std::string_view kScaledPositions = "other scaled positions";

constexpr std::array kArchitectures{
    Architecture{.model_type = "albert",
                 .name = "ALBERT",
                 .checked = kRandomWeights,
                 .tokenizer = {.tokenizer_class = "AlbertTokenizer"},
                 .read = read_albert,
                 .pooler = "pooler",
                 .read_classifier = read_albert_head,
                 .read_vocabulary = read_albert_vocabulary_head},
    Architecture{.model_type = "bert",
                 .name = "BERT, JinaBERT v2",
                 .checked = "all-MiniLM-L6-v2 and random weights",
                 .tokenizer = {.tokenizer_class = "BertTokenizer"},
                 .read = read_bert,
                 .pooler = "pooler.dense",
                 .read_classifier = read_pooler_head,
                 .read_vocabulary = read_bert_vocabulary_head},
    Architecture{.model_type = "bidirectional_pplx_qwen3",
                 .name = "Qwen3 in both directions, pplx-embed",
                 .checked = kAsQwen3,
                 .refused = kScaledPositions,
                 .tokenizer = {.tokenizer_class = "Qwen2Tokenizer"},
                 .read = read_bidirectional_qwen3},
    Architecture{.model_type = "camembert",
                 .name = "CamemBERT",
                 .checked = kAsRoberta,
                 .tokenizer = {.tokenizer_class = "CamembertTokenizer"},
                 .read = read_roberta,
                 .pooler = "pooler.dense",
                 .read_classifier = read_dense_head,
                 .read_vocabulary = read_roberta_vocabulary_head},
    Architecture{.model_type = "deberta",
                 .name = "DeBERTa",
                 .checked = kRandomWeights,
                 .refused = "products of positions with positions",
                 .tokenizer = {.tokenizer_class = "DebertaTokenizer"},
                 .read = read_deberta,
                 .read_classifier = read_context_head,
                 .read_vocabulary = read_deberta_vocabulary_head},
    Architecture{.model_type = "deberta-v2",
                 .name = "DeBERTa v2 and v3",
                 .checked = kRandomWeights,
                 .refused = "products of positions with positions",
                 .tokenizer = {.tokenizer_class = "DebertaV2Tokenizer"},
                 .read = read_deberta_v2,
                 .read_classifier = read_context_head,
                 .read_vocabulary = read_deberta_vocabulary_head},
    Architecture{.model_type = "distilbert",
                 .name = "DistilBERT",
                 .checked = kRandomWeights,
                 .tokenizer = {.tokenizer_class = "BertTokenizer"},
                 .read = read_distilbert,
                 .read_classifier = read_distilbert_head,
                 .read_vocabulary = read_distilbert_vocabulary_head},
    Architecture{.model_type = "electra",
                 .name = "ELECTRA",
                 .checked = kRandomWeights,
                 .tokenizer = {.tokenizer_class = "BertTokenizer"},
                 .read = read_electra,
                 .read_classifier = read_electra_head,
                 .read_vocabulary = read_electra_vocabulary_head},
    Architecture{.model_type = "ernie",
                 .name = "ERNIE",
                 .checked = kRandomWeights,
                 .tokenizer = {.tokenizer_class = "BertTokenizer"},
                 .read = read_ernie,
                 .pooler = "pooler.dense",
                 .read_classifier = read_pooler_head,
                 .read_vocabulary = read_bert_vocabulary_head},
    Architecture{.model_type = "eurobert",
                 .name = "EuroBERT",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .read = read_eurobert},
    Architecture{.model_type = "gemma",
                 .name = "Gemma",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.tokenizer_class = "GemmaTokenizer"},
                 .read = read_gemma,
                 .read_classifier = read_last_token_head,
                 .read_token = read_gemma_token_head},
    Architecture{.model_type = "gemma2",
                 .name = "Gemma 2",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.tokenizer_class = "GemmaTokenizer"},
                 .read = read_gemma2,
                 .read_classifier = read_last_token_head,
                 .read_token = read_gemma2_token_head},
    Architecture{.model_type = "gemma3_text",
                 .name = "Gemma 3 as an encoder, EmbeddingGemma",
                 .checked = kRandomWeights,
                 .refused = "other scaled positions, decoders",
                 .tokenizer = {.tokenizer_class = "GemmaTokenizer"},
                 .read = read_gemma3},
    Architecture{.model_type = "gte",
                 .name = "GTE, Arctic Embed 2.0",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.tokenizer_class = "XLMRobertaTokenizer"},
                 .read = read_gte,
                 .read_classifier = read_pooler_head,
                 .read_vocabulary = read_gte_vocabulary_head},
    Architecture{.model_type = "jina_embeddings_v3",
                 .name = "Jina Embeddings v3",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.tokenizer_class = "XLMRobertaTokenizer"},
                 .read = read_jina_v3},
    Architecture{.model_type = "jina_embeddings_v5",
                 .name = "Jina Embeddings v5",
                 .checked = "not separately: it is Qwen3's or EuroBERT's network",
                 .refused = kScaledPositions,
                 .tokenizer = {.needs_tokenizer_json = true},
                 .read = read_jina_v5,
                 .own_module = "custom_st.Transformer",
                 .own_module_key = "task_names",
                 .own_module_pools = graph::PoolingMode::kLastToken,
                 .needs_task_adapters = true},
    Architecture{.model_type = "lfm2",
                 .name = "LFM2",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.needs_tokenizer_json = true},
                 .read = read_lfm2},
    Architecture{.model_type = "llama",
                 .name = "Llama",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .read = read_llama,
                 .read_classifier = read_last_token_head,
                 .read_token = read_token_head},
    Architecture{.model_type = "longformer",
                 .name = "Longformer",
                 .checked = kRandomWeights,
                 .refused = "cross-encoders",
                 .tokenizer = {.tokenizer_class = "RobertaTokenizer"},
                 .read = read_longformer,
                 .read_vocabulary = read_roberta_vocabulary_head},
    Architecture{.model_type = "mistral",
                 .name = "Mistral",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.needs_tokenizer_json = true},
                 .read = read_mistral,
                 .read_classifier = read_last_token_head,
                 .read_token = read_token_head},
    Architecture{.model_type = "modernbert",
                 .name = "ModernBERT",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.needs_tokenizer_json = true},
                 .read = read_modernbert,
                 .read_classifier = read_modernbert_head,
                 .read_vocabulary = read_modernbert_vocabulary_head},
    Architecture{.model_type = "modernbert-decoder",
                 .name = "ModernBERT's decoder",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.needs_tokenizer_json = true},
                 .read = read_modernbert_decoder,
                 .read_classifier = read_modernbert_decoder_head},
    Architecture{.model_type = "mpnet",
                 .name = "MPNet",
                 .checked = "all-mpnet-base-v2 and random weights",
                 .tokenizer = {.tokenizer_class = "MPNetTokenizer"},
                 .read = read_mpnet,
                 .pooler = "pooler.dense",
                 .read_classifier = read_dense_head,
                 .read_vocabulary = read_roberta_vocabulary_head},
    Architecture{.model_type = "mt5",
                 .name = "mT5, the encoder",
                 .checked = kRandomWeights,
                 .tokenizer = {.tokenizer_class = "T5Tokenizer"},
                 .read = read_mt5},
    Architecture{.model_type = "new",
                 .name = "GTE, in its first files",
                 .checked = kAsGte,
                 .refused = kScaledPositions,
                 .read = read_gte,
                 .read_classifier = read_pooler_head,
                 .read_vocabulary = read_gte_vocabulary_head},
    Architecture{.model_type = "nomic_bert",
                 .name = "NomicBERT, also with experts",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.tokenizer_class = "BertTokenizer"},
                 .read = read_nomic_bert},
    Architecture{.model_type = "qwen2",
                 .name = "Qwen2",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.tokenizer_class = "Qwen2Tokenizer", .is_always_used = true},
                 .read = read_qwen2,
                 .read_classifier = read_last_token_head,
                 .read_token = read_token_head},
    Architecture{.model_type = "qwen3",
                 .name = "Qwen3",
                 .checked = kRandomWeights,
                 .refused = kScaledPositions,
                 .tokenizer = {.tokenizer_class = "Qwen2Tokenizer"},
                 .read = read_qwen3,
                 .read_classifier = read_last_token_head,
                 .read_token = read_token_head},
    Architecture{.model_type = "roberta",
                 .name = "RoBERTa",
                 .checked = kRandomWeights,
                 .tokenizer = {.tokenizer_class = "RobertaTokenizer"},
                 .read = read_roberta,
                 .pooler = "pooler.dense",
                 .read_classifier = read_dense_head,
                 .read_vocabulary = read_roberta_vocabulary_head},
    Architecture{.model_type = "t5",
                 .name = "T5, the encoder",
                 .checked = kRandomWeights,
                 .tokenizer = {.tokenizer_class = "T5Tokenizer"},
                 .read = read_t5},
    Architecture{.model_type = "Vietnamese",
                 .name = "GTE, under the name of its language",
                 .checked = kAsGte,
                 .refused = kScaledPositions,
                 .tokenizer = {.needs_tokenizer_json = true},
                 .read = read_gte},
    Architecture{.model_type = "xlm-roberta",
                 .name = "XLM-RoBERTa, Jina Embeddings v3, Jina Reranker v2",
                 .checked = kAsRoberta,
                 .tokenizer = {.tokenizer_class = "XLMRobertaTokenizer"},
                 .read = read_roberta,
                 .pooler = "pooler.dense",
                 .own_module = "custom_st.Transformer",
                 .own_module_key = "lora_adaptations",
                 .read_classifier = read_dense_head,
                 .read_vocabulary = read_roberta_vocabulary_head},
    Architecture{.model_type = "xlm-roberta-xl",
                 .name = "XLM-RoBERTa-XL",
                 .checked = kRandomWeights,
                 .tokenizer = {.needs_tokenizer_json = true},
                 .read = read_xlm_roberta_xl,
                 .pooler = "pooler.dense",
                 .read_classifier = read_dense_head,
                 .read_vocabulary = read_roberta_vocabulary_head},
};

}  // namespace

std::span<const Architecture> architectures() {
  return kArchitectures;
}

const Architecture* find_architecture(std::string_view model_type) {
  const auto* found = std::ranges::find(kArchitectures, model_type, &Architecture::model_type);
  return found == kArchitectures.end() ? nullptr : found;
}

TokenizerOfNetwork tokenizer_of_network(const core::Json& config) {
  const auto* const type = core::find_member(config, "model_type");
  if (type == nullptr || !type->is_string()) return {};
  const Architecture* const architecture = find_architecture(type->text());
  return architecture == nullptr ? TokenizerOfNetwork() : architecture->tokenizer;
}

std::string known_architectures(std::string_view model_type) {
  const auto types = core::words_of(kArchitectures, &Architecture::model_type);
  return core::supported_instead(
      model_type, types,
      fmt::format("without an ONNX file, these work: {} (`latebind models`)", fmt::join(types, ", ")));
}

}  // namespace latebind::embedding

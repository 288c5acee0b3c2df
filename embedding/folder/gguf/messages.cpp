#include "embedding/folder/gguf/messages.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace latebind::embedding {
namespace {

// What a generated file says, and where it comes from. Keys that begin with '.' are those of the architecture.
struct GgufTerm {
  std::string_view here;
  std::string_view there;
};
constexpr std::array kConfigTerms{GgufTerm{"'activation_function'", "'general.architecture'"},
                                  GgufTerm{"'head_dim'", "'.attention.key_length'"},
                                  GgufTerm{"'hidden_size'", "'.embedding_length'"},
                                  GgufTerm{"'intermediate_size'", "'.feed_forward_length'"},
                                  GgufTerm{"'is_causal'", "'.attention.causal'"},
                                  GgufTerm{"'layer_norm_eps'", "'.attention.layer_norm_epsilon'"},
                                  GgufTerm{"'layer_norm_epsilon'", "'.attention.layer_norm_epsilon'"},
                                  GgufTerm{"'max_position_embeddings'", "'.context_length'"},
                                  GgufTerm{"'n_embd'", "'.embedding_length'"},
                                  GgufTerm{"'n_head'", "'.attention.head_count'"},
                                  GgufTerm{"'n_inner'", "'.feed_forward_length'"},
                                  GgufTerm{"'n_layer'", "'.block_count'"},
                                  GgufTerm{"'n_positions'", "'.context_length'"},
                                  GgufTerm{"'num_attention_heads'", "'.attention.head_count'"},
                                  GgufTerm{"'num_hidden_layers'", "'.block_count'"},
                                  GgufTerm{"'num_key_value_heads'", "'.attention.head_count_kv'"},
                                  GgufTerm{"'num_labels'", "the number of rows of 'cls.output.weight'"},
                                  GgufTerm{"'query_pre_attn_scalar'", "'.attention.key_length'"},
                                  GgufTerm{"'rms_norm_eps'", "'.attention.layer_norm_rms_epsilon'"},
                                  GgufTerm{"'rope_local_base_freq'", "'.rope.freq_base_swa'"},
                                  GgufTerm{"'rope_scaling' has 'factor'", "'.rope.scaling.factor' is"},
                                  GgufTerm{"'rope_scaling'", "'.rope.scaling'"},
                                  GgufTerm{"'rope_theta'", "'.rope.freq_base'"},
                                  GgufTerm{"'rotary_emb_base'", "'.rope.freq_base'"},
                                  GgufTerm{"'sliding_window'", "'.attention.sliding_window'"},
                                  GgufTerm{"'sliding_window_pattern'", "'.attention.sliding_window_pattern'"},
                                  GgufTerm{"'type_vocab_size'", "the number of rows of 'token_types.weight'"},
                                  GgufTerm{"'vocab_size'", "the number of rows of 'token_embd.weight'"}};
constexpr std::array kTokenizerTerms{GgufTerm{"model.merges", "'tokenizer.ggml.merges'"},
                                     GgufTerm{"model.vocab", "'tokenizer.ggml.tokens'"},
                                     GgufTerm{"model.unk_token", "'tokenizer.ggml.unknown_token_id'"},
                                     GgufTerm{"model.unk_id", "'tokenizer.ggml.unknown_token_id'"},
                                     GgufTerm{"added_tokens", "'tokenizer.ggml.token_type'"}};
constexpr std::array kPoolingTerms{GgufTerm{"'pooling_mode'", "'.pooling_type'"},
                                   GgufTerm{"'word_embedding_dimension'", "'.embedding_length'"}};

std::span<const GgufTerm> terms_of(std::string_view generated) {
  if (generated == "config.json") return kConfigTerms;
  if (generated == "tokenizer.json") return kTokenizerTerms;
  if (generated == "1_Pooling/config.json") return kPoolingTerms;
  return {};
}

// Replaces all occurrences, and returns whether there was one.
bool replace_all(std::string& text, std::string_view from, std::string_view to) {
  bool is_found = false;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    is_found = true;
  }
  return is_found;
}

}  // namespace

core::Status in_gguf_terms(const core::Status& status, std::string_view file, std::string_view generated,
                           std::string_view architecture) {
  std::string message(status.message());
  if (!replace_all(message, fmt::format("{}/{}", file, generated), file)) return status;
  bool is_translated = false;
  for (const GgufTerm& term : terms_of(generated)) {
    std::string there(term.there);
    if (there.starts_with("'.")) there.insert(1, architecture);
    is_translated = replace_all(message, term.here, there) || is_translated;
  }
  // Only the names of the generated file say what is wrong.
  if (!is_translated) {
    replace_all(message, fmt::format("{}: ", file),
                fmt::format("{}: in '{}', which is made from its metadata, ", file, generated));
  }
  return core::Status(status.code(), std::move(message)).with_details(std::string(status.details()));
}

}  // namespace latebind::embedding

#include "embedding/tokenizer/vocabulary_files/check_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/json/read.h"
#include "core/text/quote.h"
#include "embedding/tokenizer/vocabulary_files/special_tokens.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"

namespace latebind::embedding {

using core::Status;

Status check_config(const core::Json& config) {
  for (const char* key : {"vocab", "merges", "tokenizer_object", "post_processor", "tokenizer_padding",
                          "tokenizer_truncation", "_json_padding", "_json_truncation", "_spm_precompiled_charsmap",
                          "gguf_file", "init_inputs", "model_specific_special_tokens"}) {
    const auto* const found = core::find_member(config, key);
    if (found == nullptr || (found->is_structured() && found->empty())) continue;
    return refused_key(key, "is not supported without a tokenizer.json");
  }
  LB_RETURN_IF_ERROR(refuse_tokenizer_options(config));
  LB_ASSIGN_OR_RETURN(const std::string backend,
                      core::read_text(config, "backend", "tokenizers", kTokenizerConfigFile));
  if (backend != "tokenizers") {
    return refused_key("backend", fmt::format("is {} (supported: 'tokenizers')", core::quoted(backend)));
  }
  for (const auto& [key, value] : config.members()) {
    const bool is_token = key.ends_with("_token") && (value.is_string() || value.is_object());
    if (!is_token || std::ranges::find(SpecialTokens::kKeys, key) != SpecialTokens::kKeys.end()) continue;
    return refused_key(key, "is a token that is not supported without a tokenizer.json");
  }
  return {};
}

Status refused_key(std::string_view key, std::string_view what) {
  return {core::StatusCode::kUnsupported, fmt::format("{}: {} {}", kTokenizerConfigFile, core::quoted(key), what)};
}

}  // namespace latebind::embedding

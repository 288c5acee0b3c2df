#include "embedding/architectures/token_head.h"

#include <optional>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/encoder_config.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

namespace {

Result<TokenHead> read_head_of_tokens(const Json& config, const path& file, bool ties_words,
                                      std::optional<float> soft_cap = std::nullopt) {
  TokenHead head;
  LB_ASSIGN_OR_RETURN(head.may_be_words,
                      core::read_bool(config, "tie_word_embeddings", ties_words, platform::path_to_utf8(file)));
  LB_ASSIGN_OR_RETURN(head.soft_cap, read_soft_cap(config, "final_logit_softcapping", file, soft_cap));
  return head;
}

}  // namespace

Result<TokenHead> read_token_head(const Json& config, const path& file) {
  return read_head_of_tokens(config, file, /*ties_words=*/false);
}

Result<TokenHead> read_gemma_token_head(const Json& config, const path& file) {
  return read_head_of_tokens(config, file, /*ties_words=*/true);
}

Result<TokenHead> read_gemma2_token_head(const Json& config, const path& file) {
  return read_head_of_tokens(config, file, /*ties_words=*/true, /*soft_cap=*/30);
}

}  // namespace latebind::embedding

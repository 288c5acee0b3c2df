#include "embedding/architectures/token_head.h"

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

namespace {

Result<TokenHead> read_head_of_tokens(const Json& config, const path& file, bool ties_words) {
  TokenHead head;
  LB_ASSIGN_OR_RETURN(head.may_be_words,
                      core::read_bool(config, "tie_word_embeddings", ties_words, platform::path_to_utf8(file)));
  const Json* const cap = core::find_member(config, "final_logit_softcapping");
  if (cap == nullptr || cap->is_null()) return head;
  if (!cap->is_number() || !(cap->get<double>() > 0)) {
    return invalid_file(file, "'final_logit_softcapping' is not a number above 0");
  }
  head.soft_cap = cap->get<float>();
  return head;
}

}  // namespace

Result<TokenHead> read_token_head(const Json& config, const path& file) {
  return read_head_of_tokens(config, file, /*ties_words=*/false);
}

Result<TokenHead> read_gemma_token_head(const Json& config, const path& file) {
  return read_head_of_tokens(config, file, /*ties_words=*/true);
}

}  // namespace latebind::embedding

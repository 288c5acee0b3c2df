#include "embedding/architectures/modernbert_decoder.h"

#include <string>
#include <utility>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/decoder.h"
#include "embedding/architectures/modernbert.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_modernbert_decoder(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  LB_RETURN_IF_ERROR(refuse_variants_of_all(config, file, "absolute"));
  LB_ASSIGN_OR_RETURN(const bool is_causal, read_causal(config, file));
  if (!is_causal) return unsupported_file(file, "'is_causal' is false, which is not supported for this decoder");
  LB_ASSIGN_OR_RETURN(ModernBertConfig modern, read_modernbert_config(config, file));
  modern.causal = true;
  // `local_attention` is the width of a window on both sides, and the window includes the token itself.
  LB_ASSIGN_OR_RETURN(const auto both_sides, core::read_size(config, "local_attention", 4, kTokensMax, name));
  LB_ASSIGN_OR_RETURN(const auto one_side, core::read_size(config, "sliding_window", 2, kTokensMax, name));
  if (!one_side && config.contains("local_attention") && !both_sides)
    return unsupported_file(file, "'local_attention' is null, and there is no 'sliding_window'");
  modern.kinds.window = one_side.value_or(both_sides.value_or(128) / 2) - 1;
  return make_modernbert(std::move(modern),
                         {.query = "attn.q_proj", .key = "attn.k_proj", .value = "attn.v_proj", .attended = "attn.Wo"});
}

}  // namespace latebind::embedding

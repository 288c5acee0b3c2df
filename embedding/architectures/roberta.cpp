#include "embedding/architectures/roberta.h"

#include <array>
#include <string>
#include <string_view>

#include "core/json/read.h"
#include "embedding/architectures/bert.h"
#include "embedding/architectures/jina_roberta.h"
#include "embedding/architectures/jina_v3.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<BertConfig> read_roberta_config(const Json& config, const path& file) {
  // transformers' default.
  constexpr std::size_t kPadding = 1;
  LB_ASSIGN_OR_RETURN(BertConfig roberta, read_bert_config(config, file));
  if (config.contains("pad_token_id") && config["pad_token_id"].is_null())
    return unsupported_file(file, "'pad_token_id' is null, but positions are counted from it");
  LB_ASSIGN_OR_RETURN(const auto padding, core::read_size(config, "pad_token_id", 0, roberta.sizes.vocabulary - 1,
                                                          platform::path_to_utf8(file)));
  roberta.sizes.padding = padding.value_or(kPadding);
  LB_RETURN_IF_ERROR(check_padding(roberta.sizes, file, "'pad_token_id'"));
  // Also CamemBERT's.
  roberta.prefix = "roberta.";
  return roberta;
}

Result<std::shared_ptr<const Network>> read_roberta(const Json& config, const path& file) {
  constexpr std::array<std::string_view, 2> kPositions{"absolute", "rotary"};
  LB_ASSIGN_OR_RETURN(const std::string positions, read_word(config, "position_embedding_type", file, kPositions));
  if (positions == "rotary") return read_jina_v3(config, file);
  if (is_jina_roberta(config)) return read_jina_roberta(config, file);
  LB_ASSIGN_OR_RETURN(const BertConfig roberta, read_roberta_config(config, file));
  return make_bert_network(roberta);
}

}  // namespace latebind::embedding

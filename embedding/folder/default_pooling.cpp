#include "embedding/folder/default_pooling.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "core/json/read.h"
#include "core/text/quote.h"
#include "embedding/folder/config_files.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using graph::PoolingMode;
using std::filesystem::path;

Result<PoolingMode> default_pooling(const Json& config, const path& config_file) {
  if (!network_class(config).ends_with("ForCausalLM")) return PoolingMode::kMean;
  const auto causal = config.find("is_causal");
  if (causal == nullptr) return PoolingMode::kLastToken;
  if (causal->is_null()) return PoolingMode::kMean;
  if (!causal->is_boolean()) {
    return invalid_file(config_file,
                        fmt::format("'is_causal' is {}, must be true or false", core::printable_json(*causal)));
  }
  return causal->get<bool>() ? PoolingMode::kLastToken : PoolingMode::kMean;
}

std::string say_default_pooling(const ModelFiles& files, const Json& config, PoolingMode pooling,
                                bool has_chat_template) {
  std::string text =
      pooling == PoolingMode::kLastToken
          ? fmt::format("the vector of the last token is taken for a text's, because config.json names {}",
                        core::printable(network_class(config)))
          : std::string("the mean of the tokens' vectors is taken for a text's");
  std::string ignored;
  for (const std::string_view name :
       {"1_Pooling/config.json", "sentence_bert_config.json", "config_sentence_transformers.json"}) {
    if (files.has(files.place() / name)) ignored += fmt::format("{}{}", ignored.empty() ? "" : ", ", name);
  }
  if (!ignored.empty()) ignored = "; not read without it: " + ignored;
  if (has_chat_template) {
    ignored +=
        "; texts are not put into the chat template of the tokenizer, as sentence-transformers does without "
        "modules.json";
  }
  return fmt::format("{} has no modules.json: {}, and it is not normalized{}", files.name(), text, ignored);
}

}  // namespace latebind::embedding

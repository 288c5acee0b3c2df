#include "embedding/folder/word_embeddings_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/folder/pooling_mode.h"
#include "embedding/folder/refusals.h"
#include "embedding/folder/weights_files.h"

namespace latebind::embedding {

using core::Json;
using core::Status;
using std::filesystem::path;

Status read_word_embeddings(const ModelFiles& files, const path& folder, Modules& modules) {
  const path file = folder / kWordEmbeddingsFile;
  const std::string name = platform::path_to_utf8(file);
  LB_ASSIGN_OR_RETURN(const Json config, read_module_config(files, file));
  for (const auto& member : config.members()) {
    const std::string& key = member.first;
    if (key != "tokenizer_class" && key != "update_embeddings" && key != "max_seq_length")
      return unsupported_file(file, fmt::format("'{}' is not supported", core::printable(key)));
  }
  LB_ASSIGN_OR_RETURN(const std::string type, core::read_text(config, "tokenizer_class", "", name));
  if (!type.starts_with("sentence_transformers.") || !type.ends_with(".WhitespaceTokenizer")) {
    return unsupported_file(file, fmt::format("'tokenizer_class' is '{}'; only sentence-transformers' "
                                              "WhitespaceTokenizer is supported",
                                              core::printable(type)));
  }
  // Only training reads it.
  LB_RETURN_IF_ERROR(core::read_bool(config, "update_embeddings", false, name).status());
  constexpr std::size_t kWordsDefault = 1'000'000;
  LB_ASSIGN_OR_RETURN(const auto length,
                      core::read_size(config, "max_seq_length", 1, std::numeric_limits<std::int64_t>::max(), name));
  modules.transformer = folder;
  modules.is_static = true;
  modules.words_max = std::min(length.value_or(kWordsDefault), kTokensMax);
  modules.files.push_back(file);
  return {};
}

Status take_word_pooling(Modules& modules) {
  modules.include_prompt = true;
  if (modules.pooling == graph::PoolingMode::kMean) return {};
  return unsupported_file(*modules.pooling_file, fmt::format("the pooling '{}' after WordEmbeddings is not supported; "
                                                             "only mean is",
                                                             name_of_pooling(modules.pooling)));
}

Status check_after_words(const ModelFiles& files, const Modules& modules) {
  if (!modules.words_max) return {};
  const bool keeps_zero = std::ranges::all_of(modules.after_pooling, [](const VectorModule& module) {
    const auto* const dense = std::get_if<DenseModule>(&module);
    return dense != nullptr && !dense->has_bias;
  });
  if (keeps_zero) return {};
  return unsupported_file(files.place() / "modules.json",
                          "LayerNorm, or Dense with a bias, after WordEmbeddings is not supported: it gives a text "
                          "without known words a vector other than 0");
}

}  // namespace latebind::embedding

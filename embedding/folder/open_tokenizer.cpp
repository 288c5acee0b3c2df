#include <string_view>

#include "core/platform/files/folders.h"
#include "embedding/folder/specification.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/beside_tokenizer_json.h"
#include "embedding/tokenizer/vocabulary_files/tokenizer_class.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

namespace latebind::embedding {

using core::Result;
using std::filesystem::path;

namespace {

Result<Tokenizer> read_tokenizer(const ModelFiles& files, const InputSpec& input, const NetworkSpec& network) {
  const auto text_of = [](const StoredFile& stored) {
    const auto bytes = stored.bytes();
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  LB_ASSIGN_OR_RETURN(const StoredFile stored, files.open_file(input.tokenizer_file));
  if (network.has_words) return Tokenizer::from_word_list(text_of(stored), stored.name);
  const path folder = input.tokenizer_file.parent_path();
  const TokenizerClass* const tokenizer_class = input.tokenizer_class;
  const auto read = [&](std::string_view name) { return read_object(files, folder / name, kTokenizerConfigLimits); };
  // A chat template contains the special tokens.
  TokenizerUse use{.special_tokens = !network.is_static && input.frame == nullptr};
  if (input.roles) use.markers = input.roles->markers;
  if (tokenizer_class == nullptr) {
    BesideTokenizerJson beside;
    // For a table of vectors, the reference reads no other file.
    if (network.is_static && network.term_table == nullptr)
      return Tokenizer::from_json(text_of(stored), stored.name, use);
    LB_ASSIGN_OR_RETURN(beside.config, read_object(files, folder / "config.json"));
    LB_ASSIGN_OR_RETURN(beside.tokenizer_config, read(kTokenizerConfigFile));
    LB_ASSIGN_OR_RETURN(beside.special_tokens_map, read(kSpecialTokensFile));
    LB_ASSIGN_OR_RETURN(beside.added_tokens, read(kAddedTokensFile));
    if (beside.config) beside.network = tokenizer_of_network(*beside.config);
    use.beside = &beside;
    return Tokenizer::from_json(text_of(stored), stored.name, use);
  }

  VocabularyFiles given;
  LB_ASSIGN_OR_RETURN(given.tokenizer_config, read(kTokenizerConfigFile));
  LB_ASSIGN_OR_RETURN(given.special_tokens_map, read(kSpecialTokensFile));
  LB_ASSIGN_OR_RETURN(given.added_tokens, read(kAddedTokensFile));
  given.vocabulary = text_of(stored);
  StoredFile merges;
  if (!tokenizer_class->merges_file.empty()) {
    LB_ASSIGN_OR_RETURN(merges, files.open_file(folder / tokenizer_class->merges_file));
    given.merges = text_of(merges);
  }
  return Tokenizer::from_vocabulary_files(*tokenizer_class, given, platform::path_to_utf8(folder), use);
}

}  // namespace

Result<Tokenizer> Specification::open_tokenizer() const {
  auto tokenizer = read_tokenizer(files, input, network);
  if (!tokenizer.ok()) return files.in_its_terms(tokenizer.status());
  return tokenizer;
}

}  // namespace latebind::embedding

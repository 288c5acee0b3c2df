// What the files of a model say of it as a multi-vector encoder (late interaction, ColBERT): a network that gives a
// text a vector for each token, one way for queries and another one for documents.
//
// Source: Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction
// over BERT" (2020), as sentence-transformers' MultiVectorEncoder reads it: from its own files, from PyLate's, and from
// artifact.metadata of Stanford's ColBERT. Pure functions of the files, for any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "embedding/encoder_kind.h"
#include "embedding/modules.h"
#include "embedding/text_role.h"

namespace latebind::embedding {

// Short queries are filled up with a token, whose vectors then count as the others.
struct QueryExpansion {
  std::size_t length = 0;  // to so many tokens
  bool cuts = true;        // a longer query, to the same length
  bool attend = false;     // the other tokens attend to these
  std::string token{};     // empty: the tokenizer's mask token or, where it has none, the one at the end of a text
};

// What is done with texts of one role.
struct RoleConfig {
  std::string prompt{};                              // put before every text
  std::optional<std::size_t> length = std::nullopt;  // a longer text is cut to so many tokens
  std::optional<QueryExpansion> expansion = std::nullopt;
  std::vector<std::string> left_out{};  // tokens that have no vector
  std::vector<std::int32_t> only{};     // the only ids that have one; empty: all
};

struct MultiVectorConfig {
  RoleConfig document{};
  RoleConfig query{};
  // Prompts that the tokenizer takes for one token each, where it knows them.
  std::vector<std::string> markers{};
  // Vectors of what queries are filled up with are wanted, even if nothing attends to it.
  bool keeps_expansion = true;
  // The mean of a query's best products instead of their sum.
  bool mean = false;

  [[nodiscard]] const RoleConfig& of(TextRole role) const { return role == TextRole::kQuery ? query : document; }
};

// `of_transformer` is sentence_bert_config.json. Reads what `modules` leads to. kInvalidModel or kUnsupported, naming
// the file and the key.
[[nodiscard]] core::Result<MultiVectorConfig> read_multi_vectors(const ModelFiles& files, const Modules& modules,
                                                                 const ConfigFile& own,
                                                                 const ConfigFile& of_transformer);

}  // namespace latebind::embedding

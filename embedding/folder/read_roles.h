// Roles: how a multi-vector encoder treats queries and documents: prompts, lengths, the expansion of queries, and the
// tokens that have a vector.
//
// Source: Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late Interaction
// over BERT" (2020), as sentence-transformers' MultiVectorEncoder reads it: from its own files, from PyLate's, and from
// artifact.metadata of Stanford's ColBERT. Values; reading is a pure function of the files, safe for concurrent use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "embedding/folder/folder_contents.h"
#include "embedding/folder/modules.h"
#include "embedding/inputs/text_role.h"

namespace latebind::embedding {

// The expansion of queries: short queries are filled up with a token whose vectors count like the others.
struct QueryExpansion {
  std::size_t length = 0;  // in tokens
  bool cuts = true;        // a longer query is cut to that length
  bool attend = false;     // the other tokens attend to the filling tokens
  std::string token{};     // the text of the token
};

// The treatment of texts of one role.
struct RoleSpec {
  std::string prompt{};    // the prompt before every text
  std::size_t length = 0;  // a longer text is cut to this many tokens
  std::optional<QueryExpansion> expansion = std::nullopt;
  std::vector<std::string> left_out{};  // tokens that have no vector
  std::vector<std::int32_t> only{};     // the only ids that have a vector; empty for all
};

struct Roles {
  RoleSpec document{};
  RoleSpec query{};
  // Prompts that become one token each if the tokenizer knows them.
  std::vector<std::string> markers{};
  // The filling tokens of queries have vectors even if no token attends to them.
  bool keeps_expansion = true;

  // Returns whether queries are filled up with tokens to which no token attends.
  [[nodiscard]] bool fills_unattended() const { return query.expansion && !query.expansion->attend; }
};

// Reads the treatment of each role. `max_tokens` is the default length of texts, `positions` the longest text that the
// network accepts. Returns kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<Roles> read_roles(const ModelFiles& files, const Modules& modules,
                                             const FolderContents& contents, std::size_t max_tokens,
                                             std::size_t positions);

}  // namespace latebind::embedding

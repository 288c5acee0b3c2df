// Roles: what a multi-vector encoder does with queries and with documents: prompts, lengths, the expansion of queries,
// and which tokens have a vector.
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

// Short queries are filled up with a token, whose vectors then count like the others.
struct QueryExpansion {
  std::size_t length = 0;  // in tokens
  bool cuts = true;        // a longer query is cut to that length
  bool attend = false;     // the other tokens attend to these
  std::string token{};     // the text of the token
};

// What is done with texts of one role.
struct RoleSpec {
  std::string prompt{};    // before every text
  std::size_t length = 0;  // a longer text is cut to this many tokens
  std::optional<QueryExpansion> expansion = std::nullopt;
  std::vector<std::string> left_out{};  // tokens that have no vector
  std::vector<std::int32_t> only{};     // the only ids that have one; empty: all
};

struct Roles {
  RoleSpec document{};
  RoleSpec query{};
  // Prompts that the tokenizer takes for one token each, where it knows them.
  std::vector<std::string> markers{};
  // The tokens that queries are filled up with have vectors even if nothing attends to them.
  bool keeps_expansion = true;

  // Queries are filled up with tokens that nothing attends to.
  [[nodiscard]] bool fills_unattended() const { return query.expansion && !query.expansion->attend; }
};

// Reads what the files say about each role. `max_tokens` is the length of texts for which they name none, `positions`
// the longest text that the network takes. kInvalidModel or kUnsupported, naming the file and the key.
[[nodiscard]] core::Result<Roles> read_roles(const ModelFiles& files, const Modules& modules,
                                             const FolderContents& contents, std::size_t max_tokens,
                                             std::size_t positions);

}  // namespace latebind::embedding

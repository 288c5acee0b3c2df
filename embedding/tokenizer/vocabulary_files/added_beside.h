// The tokens that the files beside a tokenizer.json name or add. Internal to beside_tokenizer_json.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/json.h"
#include "core/result.h"
#include "embedding/tokenizer/vocabulary_files/beside_tokenizer_json.h"
#include "embedding/tokenizer/vocabulary_files/special_tokens.h"

namespace latebind::embedding {

// The text of a token that is given as a text or as an object; null for anything else.
[[nodiscard]] const std::string* token_text(const nlohmann::json& value);

// A token by its role: that of special_tokens_map.json, which counts where tokenizer_config.json has no
// "added_tokens_decoder", else that of tokenizer_config.json, else `otherwise`. Null where a file says null.
struct TokenByRole {
  std::optional<std::string> text{};
  std::string_view file{};
  bool is_said = false;
};
[[nodiscard]] TokenByRole token_by_role(const BesideTokenizerJson& beside, std::string_view key,
                                        std::string_view otherwise);

// kUnsupported for one that is no added token of `root`: the reference adds it, so that it is found in texts.
[[nodiscard]] core::Status check_added_beside(const BesideTokenizerJson& beside, const nlohmann::json& root);

// Where in a text an added token of `root` is found, as "added_tokens_decoder" says it, which counts for the reference.
void take_flags_beside(const BesideTokenizerJson& beside, nlohmann::json& root);

}  // namespace latebind::embedding

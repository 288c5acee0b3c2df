// The tokens that the files beside a tokenizer.json name or add. Internal to beside_tokenizer_json.h. Pure functions,
// any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/tokenizer/vocabulary_files/beside_tokenizer_json.h"
#include "embedding/tokenizer/vocabulary_files/special_tokens.h"

namespace latebind::embedding {

// The content of a token that is given as a text or as an object; null for other values.
[[nodiscard]] const std::string* token_text(const core::Json& value);

// The token with a role. special_tokens_map.json decides if tokenizer_config.json has no "added_tokens_decoder", else
// tokenizer_config.json, else `otherwise`. The text is std::nullopt if a file says null.
struct TokenByRole {
  std::optional<std::string> text{};
  std::string_view file{};
  bool is_said = false;
};
[[nodiscard]] TokenByRole token_by_role(const BesideTokenizerJson& beside, std::string_view key,
                                        std::string_view otherwise);

// Returns kUnsupported for a token that is not an added token of `root`: the reference adds it, and would find it in
// texts.
[[nodiscard]] core::Status check_added_beside(const BesideTokenizerJson& beside, const core::Json& root);

// Returns kUnsupported for a token "<extra_id_0>" and so on that T5Tokenizer adds, by `extra_ids`, and `root` does not
// have. `tokenizer_config` may be null.
[[nodiscard]] core::Status check_extra_ids(const core::Json* tokenizer_config, const core::Json& root);

// Applies the flags of "added_tokens_decoder" to the added tokens of `root`, as the reference does.
void take_flags_beside(const BesideTokenizerJson& beside, core::Json& root);

}  // namespace latebind::embedding

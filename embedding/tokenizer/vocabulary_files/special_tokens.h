// SpecialTokens: the tokens that the files beside a vocabulary name or add, in the order in which transformers adds
// them to its tokenizer.
//
// Source: transformers 5.24, PreTrainedTokenizerBase and TokenizersBackend. A value type; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/tokenizer/added_tokens.h"
#include "embedding/tokenizer/vocabulary.h"

namespace latebind::embedding {

// A token as in the files: a text, or an object with flags. If an object omits `normalized`, it is the opposite of
// `special`.
struct NamedToken {
  std::string content;
  bool is_text = true;
  bool single_word = false;
  bool lstrip = false;
  bool rstrip = false;
  std::optional<bool> normalized = std::nullopt;
  bool special = false;

  friend bool operator==(const NamedToken& a, const NamedToken& b);
};

class SpecialTokens {
 public:
  // The roles in the order in which their tokens are added.
  enum Role : std::uint8_t { kBos, kEos, kUnk, kSep, kPad, kCls, kMask };
  static constexpr std::array<std::string_view, 7> kKeys{"bos_token", "eos_token", "unk_token", "sep_token",
                                                         "pad_token", "cls_token", "mask_token"};

  // Reads the files. The defaults of the class must be set first. Returns kInvalidModel or kUnsupported, naming file
  // and key.
  [[nodiscard]] core::Status read(const core::Json& tokenizer_config,
                                  const std::optional<core::Json>& special_tokens_map,
                                  const std::optional<core::Json>& added_tokens);

  void set(Role role, NamedToken token) { named_[role] = std::move(token); }
  [[nodiscard]] std::optional<NamedToken>& at(Role role) { return named_[role]; }
  // The text of a token. Returns kUnsupported if the files set it to null, since the class needs it.
  [[nodiscard]] core::Result<std::string> text(Role role) const;
  // Replaces the "additional_special_tokens" of the files.
  void set_additional(std::vector<NamedToken> tokens) { additional_ = std::move(tokens); }
  // Adds all tokens once more at the end with plain flags, as one class does.
  void add_plainly_again() { adds_plainly_again_ = true; }

  // All tokens sorted by id, which is that of the vocabulary, or else the next one from the vocabulary's size on.
  [[nodiscard]] std::vector<AddedToken> with_ids(const Vocabulary& unfinished) const;

 private:
  [[nodiscard]] core::Status read_map(const core::Json& special_tokens_map);
  [[nodiscard]] core::Status read_legacy_added(const core::Json& added_tokens);
  [[nodiscard]] core::Status read_decoder(const core::Json& decoder);
  [[nodiscard]] std::vector<NamedToken> in_order() const;

  std::array<std::optional<NamedToken>, 7> named_;
  std::array<bool, 7> is_known_early_{};  // whether the token is known when added_tokens.json is read
  std::set<std::string> extra_known_early_;
  std::map<std::uint64_t, NamedToken> added_;  // by the id in the files, which only determines the order
  // std::nullopt if the files have no such key.
  std::optional<std::vector<NamedToken>> extra_ = std::nullopt;
  std::optional<std::vector<NamedToken>> additional_ = std::nullopt;
  bool adds_plainly_again_ = false;
};

}  // namespace latebind::embedding

// Tokenizer: text to token ids, exactly as the Hugging Face `tokenizers` package does it for the same tokenizer.json.
//
// Anything unsupported in the file is rejected by name when it is opened, never approximated. Immutable and thread-safe
// after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::embedding {

class Tokenizer {
 public:
  // kNotFound, kInvalidModel (damaged), kUnsupported (names the part). Truncation and padding that the file asks for
  // are ignored: the caller truncates, batching pads.
  static core::Result<Tokenizer> from_file(const std::filesystem::path& file);
  // `name` stands for the file in messages.
  static core::Result<Tokenizer> from_json(std::string_view text, std::string_view name);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Appends the ids of `text` with the special tokens that the post-processor adds, at most `max_tokens` of them
  // (special tokens counted, text cut at its end, as the reference truncates). kInvalidArgument with the byte offset
  // when `text` is not UTF-8. On error `ids` is left as it was.
  [[nodiscard]] core::Status encode(std::string_view text, std::size_t max_tokens,
                                    std::vector<std::int32_t>& ids) const;

  // The text of the token with this id, or nothing where there is none; a view into the tokenizer. An added token that
  // is looked for in the normalized text has its normalized form, as in the reference.
  [[nodiscard]] std::optional<std::string_view> token(std::int32_t id) const;

  // Ids are below this.
  [[nodiscard]] std::size_t vocabulary_size() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace latebind::embedding

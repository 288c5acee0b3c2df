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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "embedding/tokenizer/token_offsets.h"

namespace latebind::embedding {

struct BesideTokenizerJson;
struct TokenizerClass;
struct VocabularyFiles;

struct TokenizerUse {
  // Those that the post-processor adds to a text.
  bool special_tokens = true;
  // What is put before texts, and was a token each where the model was trained: these, or their first words, are
  // special tokens of a tokenizer that knows them but would split them.
  std::span<const std::string> markers{};
  // What stands beside a tokenizer.json, which is refused where these files would make another tokenizer of it.
  const BesideTokenizerJson* beside = nullptr;
};

// Which of two texts gets shorter where both are too long together.
enum class PairTruncation : std::uint8_t {
  kLongestFirst,  // the longer one, and both where none leaves room for the other
  kOnlyFirst,
  kOnlySecond,
};

struct PairLimits {
  // Of both, special tokens included.
  std::size_t max_tokens = 0;
  PairTruncation truncation = PairTruncation::kLongestFirst;
  // Texts are cut at their beginning instead of their end.
  bool keep_end = false;
};

struct EncodedPair {
  // Tokens have type 0, and from this one of the pair on 1; how many tokens there are where none has.
  std::size_t type_one_from = 0;
  bool is_cut = false;
  // All tokens of one of the texts, which had some, were cut.
  bool lacks_a_text = false;
};

class Tokenizer {
 public:
  // The longest tokenizer.json that is read.
  static constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

  // kNotFound, kInvalidModel (damaged), kUnsupported (names the part). Truncation and padding that the file asks for
  // are ignored: the caller truncates, batching pads.
  static core::Result<Tokenizer> from_file(const std::filesystem::path& file);
  // `name` stands for the file in messages.
  static core::Result<Tokenizer> from_json(std::string_view text, std::string_view name, const TokenizerUse& use = {});
  // What transformers makes of the files of a folder without a tokenizer.json. `name` stands for the folder.
  static core::Result<Tokenizer> from_vocabulary_files(const TokenizerClass& tokenizer_class,
                                                       const VocabularyFiles& files, std::string_view name,
                                                       const TokenizerUse& use = {});

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Appends the ids of `text` with the special tokens that the post-processor adds, at most `max_tokens` of them
  // (special tokens counted, text cut at its end, as the reference truncates). kInvalidArgument with the byte offset
  // when `text` is not UTF-8. On error `ids` is left as it was.
  [[nodiscard]] core::Status encode(std::string_view text, std::size_t max_tokens,
                                    std::vector<std::int32_t>& ids) const;
  // The same, but a longer text is cut at its beginning, as the reference does it to the left: its last tokens stay,
  // between the special ones. How many were cut. The whole text is processed, however long it is.
  [[nodiscard]] core::Result<std::size_t> encode_end(std::string_view text, std::size_t max_tokens,
                                                     std::vector<std::int32_t>& ids) const;

  // Appends the ids of two texts as one row, with the special tokens that the post-processor puts around and between
  // them, cut as the reference cuts. The errors of encode(), which name the text as "the first text" or "the second
  // text"; kTextTooLong where the text that may be cut is too short for that; kUnsupported where the post-processor is
  // not known for two texts.
  [[nodiscard]] core::Result<EncodedPair> encode_pair(std::string_view first, std::string_view second,
                                                      const PairLimits& limits, std::vector<std::int32_t>& ids) const;
  // The ids that encode() gives or, with Cut::kBeginning, encode_end(), and for each of them where it is in `text`, as
  // the reference's offsets say it, but in bytes. Special tokens that the post-processor adds have 0 and 0. Appends as
  // many to one as to the other. Slower than ids alone, with about ten bytes of memory for each one of the text.
  // kUnsupported as from gives_offsets().
  enum class Cut : std::uint8_t { kEnd, kBeginning };
  [[nodiscard]] core::Status encode_with_offsets(std::string_view text, std::size_t max_tokens, Cut cut,
                                                 std::vector<std::int32_t>& ids,
                                                 std::vector<TokenOffsets>& offsets) const;

  // kUnsupported names the part that keeps it from giving offsets.
  [[nodiscard]] core::Status gives_offsets() const;

  // The special tokens that every text gets, before and behind it.
  [[nodiscard]] std::size_t tokens_before() const;
  [[nodiscard]] std::size_t tokens_behind() const;

  // The text of these ids, as the reference decodes them. kInvalidArgument names an id that no token has, kUnsupported
  // the file's decoder where it is an unknown one.
  [[nodiscard]] core::Result<std::string> decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const;

  // The text of the token with this id, or nothing where there is none; a view into the tokenizer. An added token that
  // is looked for in the normalized text has its normalized form, as in the reference.
  [[nodiscard]] std::optional<std::string_view> token(std::int32_t id) const;
  // Whether the file says that it is special, or it is put around every text.
  [[nodiscard]] bool is_special(std::int32_t id) const;

  // The id of the added token with this text, as the file has it, or else of the vocabulary's; nothing where there is
  // none.
  [[nodiscard]] std::optional<std::int32_t> id_of(std::string_view token) const;

  // Ids are below this.
  [[nodiscard]] std::size_t vocabulary_size() const;

 private:
  struct Parts;
  [[nodiscard]] static core::Status check(std::string_view text, std::size_t max_tokens, std::size_t added);
  template <class Read>
  static core::Result<Tokenizer> from_file_of(Read read, std::string_view name,
                                              std::span<const std::string> markers = {});
  explicit Tokenizer(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace latebind::embedding

// Tokenizer: text to token ids, exactly as the Hugging Face `tokenizers` package does it for the same tokenizer.json.
//
// Anything unsupported in the file is rejected by name when it is opened, and never approximated. Immutable and
// thread-safe after construction.
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
  // Whether the post-processor adds its special tokens to a text.
  bool special_tokens = true;
  // Texts that precede other texts and were single tokens when the model was trained. They, or their first words,
  // become special tokens if the tokenizer knows them but would split them.
  std::span<const std::string> markers{};
  // The files beside a tokenizer.json, which is refused if these files would change the tokenizer.
  const BesideTokenizerJson* beside = nullptr;
};

// Which of two texts is shortened if both together are too long.
enum class PairTruncation : std::uint8_t {
  kLongestFirst,  // the longer one; both, if neither leaves room for the other
  kOnlyFirst,
  kOnlySecond,
};

struct PairLimits {
  // Limit for both texts, including special tokens.
  std::size_t max_tokens = 0;
  PairTruncation truncation = PairTruncation::kLongestFirst;
  // Texts are cut at their beginning instead of their end.
  bool keep_end = false;
};

struct EncodedPair {
  // Tokens have type 0, and type 1 from this index of the pair on. It is the number of tokens if all have type 0.
  std::size_t type_one_from = 0;
  bool is_cut = false;
  // The number of tokens of the first text, and whether it was cut.
  std::size_t first_tokens = 0;
  bool first_is_cut = false;
  // Whether all tokens of one of the texts, which had some, were cut.
  bool lacks_a_text = false;
};

class Tokenizer {
 public:
  // The largest tokenizer.json that is read.
  static constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

  // Returns kNotFound, kInvalidModel (damaged) or kUnsupported (names the part). The file's settings for truncation and
  // padding are ignored: the caller truncates, and batching pads.
  static core::Result<Tokenizer> from_file(const std::filesystem::path& file);
  // `name` is the file's name in messages.
  static core::Result<Tokenizer> from_json(std::string_view text, std::string_view name, const TokenizerUse& use = {});
  // Makes the tokenizer that transformers makes of the files of a folder without a tokenizer.json. `name` is the
  // folder's name in messages.
  static core::Result<Tokenizer> from_vocabulary_files(const TokenizerClass& tokenizer_class,
                                                       const VocabularyFiles& files, std::string_view name,
                                                       const TokenizerUse& use = {});

  // Makes the tokenizer of a list of words (word_list.h). `name` is the file's name in messages.
  static core::Result<Tokenizer> from_word_list(std::string_view text, std::string_view name);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Appends the ids of `text` and of the special tokens that the post-processor adds, at most `max_tokens` in total. A
  // longer text is cut at its end, as in the reference. Returns kInvalidArgument with the byte offset if `text` is not
  // UTF-8. On error, `ids` is unchanged.
  [[nodiscard]] core::Status encode(std::string_view text, std::size_t max_tokens,
                                    std::vector<std::int32_t>& ids) const;
  // Like encode(), but cuts a longer text at its beginning, as the reference does for truncation on the left: its last
  // tokens stay, between the special ones. Returns the number of cut tokens. The whole text is processed, however long
  // it is.
  [[nodiscard]] core::Result<std::size_t> encode_end(std::string_view text, std::size_t max_tokens,
                                                     std::vector<std::int32_t>& ids) const;

  // Appends the ids of two texts as one row, with the post-processor's special tokens around and between them,
  // truncated as in the reference. Returns the errors of encode(), which name the text as "the first text" or "the
  // second text"; kTextTooLong if the text that may be cut is too short for that; and kUnsupported if the
  // post-processor does not support two texts.
  [[nodiscard]] core::Result<EncodedPair> encode_pair(std::string_view first, std::string_view second,
                                                      const PairLimits& limits, std::vector<std::int32_t>& ids) const;
  // Appends the ids of encode() or, for Cut::kBeginning, of encode_end(), and for each id its position in `text`. These
  // are the reference's offsets, but in bytes; they are 0 and 0 for special tokens that the post-processor adds. Slower
  // than ids alone, with about ten bytes of memory for each byte of the text. Returns kUnsupported like
  // gives_offsets().
  enum class Cut : std::uint8_t { kEnd, kBeginning };
  [[nodiscard]] core::Status encode_with_offsets(std::string_view text, std::size_t max_tokens, Cut cut,
                                                 std::vector<std::int32_t>& ids,
                                                 std::vector<TokenOffsets>& offsets) const;

  // kUnsupported names the part that prevents offsets.
  [[nodiscard]] core::Status gives_offsets() const;

  // The numbers of special tokens before and after every text.
  [[nodiscard]] std::size_t tokens_before() const;
  [[nodiscard]] std::size_t tokens_after() const;

  // The text of these ids as the reference decodes them. kInvalidArgument names an id that no token has; kUnsupported
  // names the file's decoder if that is unknown.
  [[nodiscard]] core::Result<std::string> decode(std::span<const std::int32_t> ids, bool skip_special_tokens) const;

  // The text of the token with this id, as a view into the tokenizer; std::nullopt if there is none. As in the
  // reference, an added token that is searched in the normalized text has its normalized form.
  [[nodiscard]] std::optional<std::string_view> token(std::int32_t id) const;
  // Whether the file marks the token as special, or every text gets it.
  [[nodiscard]] bool is_special(std::int32_t id) const;

  // The id of the added token with this text in the file, or otherwise of the vocabulary's token; std::nullopt if there
  // is none.
  [[nodiscard]] std::optional<std::int32_t> id_of(std::string_view token) const;

  // Ids are below this number.
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

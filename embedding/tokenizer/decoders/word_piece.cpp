// WordPiece: tokens that begin with the prefix continue a word; all others begin one.
#include <array>
#include <utility>

#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/text_replacement.h"

namespace latebind::embedding {
namespace {

// Punctuation and English contractions lose the space before them. The order, and the limitation to each token, are the
// reference's.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kCleanups{{{" .", "."},
                                                                                   {" ?", "?"},
                                                                                   {" !", "!"},
                                                                                   {" ,", ","},
                                                                                   {" ' ", "'"},
                                                                                   {" n't", "n't"},
                                                                                   {" 'm", "'m"},
                                                                                   {" do not", " don't"},
                                                                                   {" 's", "'s"},
                                                                                   {" 've", "'ve"},
                                                                                   {" 're", "'re"}}};

class WordPieceDecoder final : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}

  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0) token.starts_with(prefix_) ? token.erase(0, prefix_.size()) : token.insert(0, 1, ' ');
      if (cleanup_ && token.find(' ') != std::string::npos) {
        for (const auto& [what, by] : kCleanups)
          replace_all(token, what, by);
      }
    }
    return tokens;
  }

 private:
  const std::string prefix_;
  const bool cleanup_;
};

}  // namespace

core::Result<DecoderPtr> read_word_piece_decoder(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "prefix", "cleanup"}));
  LB_ASSIGN_OR_RETURN(std::string prefix, view.string("prefix"));
  LB_ASSIGN_OR_RETURN(const bool cleanup, view.boolean("cleanup"));
  return DecoderPtr(std::make_unique<WordPieceDecoder>(std::move(prefix), cleanup));
}

}  // namespace latebind::embedding

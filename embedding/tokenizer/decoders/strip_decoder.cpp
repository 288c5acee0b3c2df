// Strip: removes a limited number of one character from the beginning and the end of each token.
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

class StripDecoder final : public Decoder {
 public:
  StripDecoder(std::string character, std::size_t start, std::size_t stop)
      : character_(std::move(character)), start_(start), stop_(stop) {}

  std::size_t growth() const override { return 1; }
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (std::string& token : tokens) {
      // If both ends need the same character, the reference fails; here the beginning gets it.
      std::string_view rest = token;
      for (std::size_t i = 0; i < start_ && rest.starts_with(character_); ++i)
        rest.remove_prefix(character_.size());
      for (std::size_t i = 0; i < stop_ && rest.ends_with(character_); ++i)
        rest.remove_suffix(character_.size());
      token = std::string(rest);
    }
    return tokens;
  }

 private:
  const std::string character_;
  const std::size_t start_;  // at most this many of the character
  const std::size_t stop_;
};

}  // namespace

core::Result<DecoderPtr> read_strip_decoder(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "content", "start", "stop"}));
  LB_ASSIGN_OR_RETURN(std::string character, view.character("content"));
  LB_ASSIGN_OR_RETURN(const std::uint64_t start, view.whole_number("start"));
  LB_ASSIGN_OR_RETURN(const std::uint64_t stop, view.whole_number("stop"));
  return DecoderPtr(std::make_unique<StripDecoder>(std::move(character), start, stop));
}

}  // namespace latebind::embedding

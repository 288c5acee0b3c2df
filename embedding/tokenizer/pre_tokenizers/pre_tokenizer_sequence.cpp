// Sequence: applies several pre-tokenizers, each to the words of the previous one.
#include <algorithm>
#include <span>
#include <vector>

#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

// Splits the received words with the remaining parts, and passes the final words to the sink.
class SplitAgain final : public WordSink {
 public:
  SplitAgain(std::span<const PreTokenizerPtr> parts, std::size_t origin, WordSink& sink)
      : parts_(parts), origin_(origin), sink_(sink) {}

  bool split(std::string_view text) {
    if (parts_.empty()) return text.empty() || sink_.word({text, 0, text.size()});
    return parts_.front()->split_from(text, origin_, *this);
  }

  bool word(const Word& word) override {
    const auto rest = parts_.subspan(1);
    if (rest.empty()) return sink_.word(word);
    Placed placed(word, sink_);
    // A part that needs the origin precedes those that rewrite words.
    const std::size_t origin = origin_ > word.begin ? origin_ - word.begin : 0;
    return SplitAgain(rest, origin, placed).split(word.text);
  }

 private:
  // Translates positions in a word to positions in the text. For a part of a rewritten word, the whole word is given.
  class Placed final : public WordSink {
   public:
    Placed(const Word& outer, WordSink& sink) : outer_(outer), sink_(sink) {}
    bool word(const Word& word) override {
      const bool is_as_it_was = outer_.places == nullptr;
      const std::size_t begin = is_as_it_was ? outer_.begin + word.begin : outer_.begin;
      const std::size_t end = is_as_it_was ? outer_.begin + word.end : outer_.end;
      const InnerPlaces places(*this, word);
      const bool is_whole = is_as_it_was && word.places == nullptr;
      return sink_.word({word.text, begin, end, is_whole ? nullptr : &places});
    }

   private:
    // The places of a word that was made from a part of the outer word.
    class InnerPlaces final : public WordPlaces {
     public:
      InnerPlaces(Placed& outer, const Word& inner) : outer_(outer), inner_(inner) {}
      void append_to(std::vector<std::size_t>& places) const override {
        const std::size_t first = places.size();
        if (inner_.places != nullptr) {
          inner_.places->append_to(places);
        } else {
          for (std::size_t i = 0; i < inner_.text.size(); ++i)
            places.push_back(inner_.begin + i);
        }
        for (std::size_t i = first; i < places.size(); ++i)
          places[i] = outer_.place(places[i]);
      }

     private:
      Placed& outer_;
      const Word& inner_;
    };

    // The position in the text of a byte of the outer word.
    std::size_t place(std::size_t at) {
      if (outer_.places == nullptr) return outer_.begin + at;
      if (places_.empty()) outer_.places->append_to(places_);
      return places_[at];
    }

    const Word& outer_;
    WordSink& sink_;
    std::vector<std::size_t> places_;  // of the outer word, once they were needed
  };

  std::span<const PreTokenizerPtr> parts_;
  const std::size_t origin_;
  WordSink& sink_;
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<PreTokenizerPtr> parts) : parts_(std::move(parts)) {}

  bool rewrites() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const PreTokenizerPtr& part) { return part->rewrites(); });
  }
  bool needs_origin() const override {
    return std::any_of(parts_.begin(), parts_.end(), [](const PreTokenizerPtr& part) { return part->needs_origin(); });
  }
  bool split(std::string_view text, WordSink& sink) const override { return split_from(text, 1, sink); }
  bool split_from(std::string_view text, std::size_t origin, WordSink& sink) const override {
    return SplitAgain(parts_, origin, sink).split(text);
  }

 private:
  const std::vector<PreTokenizerPtr> parts_;
};

}  // namespace

core::Result<PreTokenizerPtr> read_pre_tokenizer_sequence(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(auto parts, read_sequence(view, "pretokenizers", kPreTokenizers));
  bool is_rewritten = false;
  for (const PreTokenizerPtr& part : parts) {
    if (is_rewritten && part->needs_origin()) {
      return core::Status(
          core::StatusCode::kUnsupported,
          view.name() + " has a part with prepend_scheme 'first' after another part that rewrites words");
    }
    is_rewritten = is_rewritten || part->rewrites();
  }
  return PreTokenizerPtr(std::make_unique<PreTokenizerSequence>(std::move(parts)));
}

}  // namespace latebind::embedding

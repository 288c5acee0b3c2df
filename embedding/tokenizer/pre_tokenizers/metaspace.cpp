// Metaspace: spaces become a visible character, each of which begins a word.
#include <algorithm>
#include <string>
#include <vector>

#include "embedding/tokenizer/metaspace_options.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

// A replacement represents the space that it replaces, or the character in front of which it was put.
class MetaspacePlaces final : public WordPlaces {
 public:
  MetaspacePlaces(std::string_view text, std::size_t replacement_size)
      : text_(text), replacement_size_(replacement_size) {}
  // Moves to the word between `begin` and `end` of the text.
  void move_to(std::size_t begin, std::size_t end, bool is_prepended) {
    begin_ = begin;
    end_ = end;
    is_prepended_ = is_prepended;
  }
  void append_to(std::vector<std::size_t>& places) const override {
    if (is_prepended_) places.insert(places.end(), replacement_size_, begin_);
    for (std::size_t at = begin_; at < end_; ++at)
      places.insert(places.end(), text_[at] == ' ' ? replacement_size_ : 1, at);
  }

 private:
  const std::string_view text_;
  const std::size_t replacement_size_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool is_prepended_ = false;
};

class Metaspace final : public PreTokenizer {
 public:
  explicit Metaspace(MetaspaceOptions options) : options_(std::move(options)) {}

  std::size_t growth() const override { return options_.replacement.size(); }
  bool rewrites() const override { return true; }
  bool needs_origin() const override { return options_.prepends == Prepends::kFirst; }
  bool split(std::string_view text, WordSink& sink) const override { return split_from(text, 1, sink); }
  bool split_from(std::string_view text, std::size_t origin, WordSink& sink) const override {
    if (text.empty()) return true;
    const bool prepends =
        options_.prepends == Prepends::kAlways || (options_.prepends == Prepends::kFirst && origin > 0);
    const bool is_marked = mark_size(text, 0) > 0;
    return options_.split ? give_words(text, is_marked || prepends, sink)
                          : give_whole(text, !is_marked && prepends, sink);
  }

 private:
  // The size of the space or its replacement at this place, or 0.
  [[nodiscard]] std::size_t mark_size(std::string_view text, std::size_t at) const {
    if (text[at] == ' ') return 1;
    const bool is_replacement = text[at] == options_.replacement.front() &&
                                text.compare(at, options_.replacement.size(), options_.replacement) == 0;
    return is_replacement ? options_.replacement.size() : 0;
  }
  [[nodiscard]] std::size_t next_mark(std::string_view text, std::size_t at) const {
    while (at < text.size() && mark_size(text, at) == 0)
      ++at;
    return at;
  }

  // If `marked`, the next word gets the replacement unless it has one.
  bool give_words(std::string_view text, bool marked, WordSink& sink) const {
    std::string written;
    MetaspacePlaces places(text, options_.replacement.size());
    for (std::size_t begin = 0; begin < text.size(); marked = true) {
      const std::size_t inside = begin + mark_size(text, begin);
      const std::size_t end = next_mark(text, inside);
      Word word{text.substr(begin, end - begin), begin, end};
      if (marked && (inside == begin || !word.text.starts_with(options_.replacement))) {
        word.text = written.assign(options_.replacement).append(text, inside, end - inside);
        places.move_to(begin, end, inside == begin);
        word.places = &places;
      }
      if (!sink.word(word)) return false;
      begin = end;
    }
    return true;
  }

  bool give_whole(std::string_view text, bool prepends, WordSink& sink) const {
    std::string written;
    written.reserve(text.size() + options_.replacement.size());
    if (prepends) written.append(options_.replacement);
    for (const char byte : text)
      byte == ' ' ? written.append(options_.replacement) : written.append(1, byte);
    MetaspacePlaces places(text, options_.replacement.size());
    places.move_to(0, text.size(), prepends);
    return sink.word({written, 0, text.size(), &places});
  }

  const MetaspaceOptions options_;
};

}  // namespace

core::Result<PreTokenizerPtr> read_metaspace(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(MetaspaceOptions options, read_metaspace_options(view));
  return PreTokenizerPtr(std::make_unique<Metaspace>(std::move(options)));
}

}  // namespace latebind::embedding

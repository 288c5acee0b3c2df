// Metaspace: spaces become a visible character, and each of these begins a word.
#include <algorithm>
#include <string>

#include "embedding/tokenizer/metaspace_options.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

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
  // The bytes of the space or its replacement that stands here, or 0.
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

  // `marked`: the next word gets the replacement, if it does not have it.
  bool give_words(std::string_view text, bool marked, WordSink& sink) const {
    std::string written;
    for (std::size_t begin = 0; begin < text.size(); marked = true) {
      const std::size_t inside = begin + mark_size(text, begin);
      const std::size_t end = next_mark(text, inside);
      std::string_view word = text.substr(begin, end - begin);
      if (marked && (inside == begin || !word.starts_with(options_.replacement))) {
        word = written.assign(options_.replacement).append(text, inside, end - inside);
      }
      if (!sink.word({word, begin, end})) return false;
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
    return sink.word({written, 0, text.size()});
  }

  const MetaspaceOptions options_;
};

}  // namespace

core::Result<PreTokenizerPtr> read_metaspace(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(MetaspaceOptions options, read_metaspace_options(view));
  return PreTokenizerPtr(std::make_unique<Metaspace>(std::move(options)));
}

}  // namespace latebind::embedding

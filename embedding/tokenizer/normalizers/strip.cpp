// Strip: removes white space from the beginning and the end of a text.
#include <algorithm>

#include "core/text/utf8.h"
#include "embedding/tokenizer/char_map.h"
#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

bool is_white_space(char32_t c) {
  return CharMap::unchanged().lookup(c).kind() == CharKind::kSpace;
}

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}

  std::size_t growth() const override { return 1; }
  bool tracks_origin() const override { return true; }
  void rewrite(TextRewriter& text) const override {
    const std::string_view whole = text.read_rest();
    const std::string_view rest = stripped(whole);
    const auto removed = static_cast<std::size_t>(rest.data() - whole.data());
    text.set_origin(text.origin() > removed ? std::min(text.origin() - removed, rest.size()) : 0);
    text.write(rest);
  }
  AlignedText align(const AlignedText& text) const override {
    const std::string_view rest = stripped(text.text());
    const auto begin = static_cast<std::size_t>(rest.data() - text.text().data());
    AlignedText kept;
    kept.append(text, begin, begin + rest.size());
    return kept;
  }

 private:
  // The part of the text that is kept.
  [[nodiscard]] std::string_view stripped(std::string_view rest) const {
    while (left_ && !rest.empty()) {
      const char* p = rest.data();
      if (!is_white_space(core::decode_utf8(p))) break;
      rest.remove_prefix(static_cast<std::size_t>(p - rest.data()));
    }
    while (right_ && !rest.empty()) {
      std::size_t last = rest.size() - 1;
      while (core::is_utf8_continuation(rest[last]))
        --last;
      const char* p = rest.data() + last;
      if (!is_white_space(core::decode_utf8(p))) break;
      rest.remove_suffix(rest.size() - last);
    }
    return rest;
  }

  const bool left_;
  const bool right_;
};

}  // namespace

core::Result<NormalizerPtr> read_strip(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "strip_left", "strip_right"}));
  LB_ASSIGN_OR_RETURN(const bool left, view.boolean("strip_left"));
  LB_ASSIGN_OR_RETURN(const bool right, view.boolean("strip_right"));
  return NormalizerPtr(std::make_unique<Strip>(left, right));
}

}  // namespace latebind::embedding

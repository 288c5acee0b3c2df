// Prepend: puts a text in front of every text that is not empty.
#include <fmt/format.h>

#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}

  std::size_t growth() const override { return 1; }
  bool tracks_origin() const override { return true; }
  void rewrite(TextRewriter& text) const override {
    if (!text.at_end()) {
      if (text.origin() > 0) text.set_origin(text.origin() + prefix_.size());
      text.write(prefix_);
    }
    text.write(text.read_rest());
  }
  // Both the prefix and the first character represent the first character.
  AlignedText align(const AlignedText& text) const override {
    AlignedText prepended;
    if (text.text().empty()) return prepended;
    prepended.append(prefix_, text.origin(0));
    prepended.append(text, 0, text.text().size());
    return prepended;
  }

 private:
  const std::string prefix_;
};

}  // namespace

core::Result<NormalizerPtr> read_prepend(const JsonView& view) {
  constexpr std::size_t kBytesMax = 512;
  LB_RETURN_IF_ERROR(view.only_keys({"type", "prepend"}));
  LB_ASSIGN_OR_RETURN(std::string prefix, view.string("prepend"));
  // With an empty prefix, the reference loses the beginning of the text, and later normalizers double characters.
  if (prefix.empty() || prefix.size() > kBytesMax) {
    return core::Status(core::StatusCode::kUnsupported, fmt::format("{}.prepend has {} bytes (supported: 1 to {})",
                                                                    view.name(), prefix.size(), kBytesMax));
  }
  return NormalizerPtr(std::make_unique<Prepend>(std::move(prefix)));
}

}  // namespace latebind::embedding

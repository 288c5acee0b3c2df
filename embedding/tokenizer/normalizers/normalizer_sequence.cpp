// Sequence: applies several normalizers to the whole text, one after the other.
#include <algorithm>
#include <vector>

#include "embedding/tokenizer/part_table.h"

namespace latebind::embedding {
namespace {

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<NormalizerPtr> parts) : parts_(std::move(parts)) {}

  bool tracks_origin() const override {
    return std::all_of(parts_.begin(), parts_.end(), [](const NormalizerPtr& part) { return part->tracks_origin(); });
  }
  void rewrite(TextRewriter& text) const override {
    std::string current(text.read_rest());
    std::size_t origin = text.origin();
    for (const NormalizerPtr& part : parts_)
      current = part->normalize(current, origin);
    text.set_origin(origin);
    text.write(current);
  }
  AlignedText align(const AlignedText& text) const override {
    AlignedText current = text;
    for (const NormalizerPtr& part : parts_)
      current = part->align(current);
    return current;
  }

 private:
  const std::vector<NormalizerPtr> parts_;
};

}  // namespace

core::Result<NormalizerPtr> read_normalizer_sequence(const JsonView& view) {
  LB_ASSIGN_OR_RETURN(auto parts, read_sequence(view, "normalizers", kNormalizers));
  return NormalizerPtr(std::make_unique<NormalizerSequence>(std::move(parts)));
}

}  // namespace latebind::embedding

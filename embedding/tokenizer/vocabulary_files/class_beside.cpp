#include "embedding/tokenizer/vocabulary_files/class_beside.h"

#include <algorithm>

#include "embedding/tokenizer/vocabulary_files/json_parts.h"

namespace latebind::embedding {
namespace {

const MakingClass* making_class(std::string_view name) {
  const auto* const found = std::ranges::find(kMakingClasses, without_fast(name), &MakingClass::name);
  return found == kMakingClasses.end() ? nullptr : found;
}

}  // namespace

FoundClass class_beside(const BesideTokenizerJson& beside) {
  // For these networks, the class does not matter.
  if (beside.network.needs_tokenizer_json) return {};
  std::string_view named_in = kTokenizerConfigFile;
  if (beside.network.is_always_used) return {.made_by = making_class(beside.network.tokenizer_class)};
  std::string_view name = text_in(beside.tokenizer_config ? &*beside.tokenizer_config : nullptr, "tokenizer_class");
  if (name.empty()) {
    named_in = "config.json";
    name = text_in(beside.config ? &*beside.config : nullptr, "tokenizer_class");
  }
  if (name.empty()) {
    named_in = {};
    name = beside.network.tokenizer_class;
  }
  return {.made_by = making_class(name), .named_in = named_in};
}

bool makes_sentence_pieces(const FoundClass& found) {
  if (found.made_by == nullptr) return false;
  switch (found.made_by->maker) {
    case Maker::kXlmRoberta:
    case Maker::kCamembert:
    case Maker::kAlbert:
    case Maker::kDebertaV2:
    case Maker::kT5:
    case Maker::kLlama:
      return true;
    default:
      return false;
  }
}

}  // namespace latebind::embedding

// Samples for comparing devices on a model that embeds text: sentences of many kinds as token ids, and random ids, in
// several lengths and numbers of rows. Pure; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/verification.h"
#include "embedding/folder/specification.h"

namespace latebind::embedding {

// What the samples are called in the key of a kept verdict; changes with them.
inline constexpr std::string_view kTextSamples = "texts 1";

// A few dozen sentences: languages, scripts, lengths, code, an empty one.
[[nodiscard]] std::span<const std::string_view> sample_texts();

// For a model whose inputs are named as Forward knows them. `pooled`: its output has one row a text, so that texts of
// several lengths may be padded to one batch; else each is alone, since what is computed of padding is nobody's
// business. Errors of opening the tokenizer. `model` is kept.
[[nodiscard]] core::MakeSamples text_samples(Specification model, std::size_t max_tokens, bool pooled);

}  // namespace latebind::embedding

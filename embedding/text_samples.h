// Samples for comparing devices on a model that embeds text: the token ids of sentences of many kinds, and random ids,
// in several lengths and numbers of rows. Pure functions; any thread may call them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/verification/verification.h"
#include "embedding/folder/specification.h"

namespace latebind::embedding {

// The name of the samples in the key of a stored verdict. It must change with the samples.
inline constexpr std::string_view kTextSamples = "texts 1";

// A few dozen sentences in many languages, scripts and lengths, code, and an empty text.
[[nodiscard]] std::span<const std::string_view> sample_texts();

// Returns the samples for a model with the inputs that Forward knows. `pooled` says that the output has one row for
// each text, so that texts of several lengths may be padded to one batch; otherwise each text is a batch by itself,
// because the results for padding are unspecified. The returned function has a copy of `model` and returns the errors
// of opening its tokenizer.
[[nodiscard]] core::MakeSamples text_samples(Specification model, std::size_t max_tokens, bool pooled);

}  // namespace latebind::embedding

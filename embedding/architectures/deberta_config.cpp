#include "embedding/architectures/deberta_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/read.h"
#include "core/text/quote.h"
#include "embedding/architectures/architecture.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {
namespace {

using core::Json;
using core::Result;
using core::Status;
using std::filesystem::path;

// About ten times the largest value in published models.
constexpr std::size_t kSpanMax = 4096;
constexpr std::size_t kKernelMax = 63;

// Returns the parts of a text between '|', without spaces and in lower case.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    if (letter == '|') {
      words.emplace_back();
    } else if (letter != ' ') {
      words.back() += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
  }
  return words;
}

// Reads an integer; values below 1 mean that the feature is absent.
Result<std::optional<std::size_t>> read_optional_size(const Json& config, const char* key, std::size_t most,
                                                      const path& file) {
  const auto* const given = core::find_member(config, key);
  if (given != nullptr && given->is_number() && given->get<double>() < 1) return std::optional<std::size_t>();
  return core::read_size(config, key, 1, most, platform::path_to_utf8(file));
}

Status read_position_terms(const Json& config, const path& file, DebertaConfig& deberta) {
  const auto* const given = core::find_member(config, "pos_att_type");
  if (given == nullptr) return {};
  std::vector<std::string> words;
  if (given->is_string()) {
    words = words_of(given->text());
  } else if (given->is_array()) {
    for (const Json& word : *given) {
      if (!word.is_string()) return invalid_file(file, "'pos_att_type' has an entry that is not a string");
      words.emplace_back(word.text());
    }
  } else {
    return invalid_file(file, "'pos_att_type' is neither a string nor a list");
  }
  constexpr std::array<std::string_view, 2> kKnown{"c2p", "p2c"};
  std::set<std::string> seen;
  for (const std::string& word : words) {
    if (std::ranges::find(kKnown, word) == kKnown.end()) return unknown_word(file, "pos_att_type", word, kKnown);
    if (!seen.insert(word).second) return unsupported_file(file, fmt::format("'pos_att_type' has '{}' twice", word));
  }
  deberta.content_to_position = seen.contains("c2p");
  deberta.position_to_content = seen.contains("p2c");
  deberta.terms += static_cast<std::int64_t>(seen.size());
  return {};
}

Status read_span(const Json& config, const path& file, DebertaConfig& deberta) {
  LB_ASSIGN_OR_RETURN(const bool is_relative,
                      core::read_bool(config, "relative_attention", false, platform::path_to_utf8(file)));
  LB_ASSIGN_OR_RETURN(const auto given, read_optional_size(config, "max_relative_positions", kSpanMax, file));
  if (!is_relative) return {};
  const std::size_t most = given.value_or(deberta.sizes.positions);
  if (most > kSpanMax) {
    return unsupported_file(file, fmt::format("{} relative positions, which is more than {}", most, kSpanMax));
  }
  deberta.span = static_cast<std::int64_t>(most);
  if (deberta.is_first) return {};
  LB_ASSIGN_OR_RETURN(const auto buckets, read_optional_size(config, "position_buckets", kSpanMax, file));
  if (!buckets) return {};
  if (*buckets < 4 || *buckets % 2 != 0 || most <= *buckets / 2 + 1) {
    return unsupported_file(
        file, fmt::format("'position_buckets' is {}, which is not an even number of at least 4 below twice the {} "
                          "relative positions",
                          *buckets, most));
  }
  deberta.span = static_cast<std::int64_t>(*buckets);
  deberta.farthest = static_cast<std::int64_t>(most);
  return {};
}

// Reads the keys that only the second version has.
Status read_second_version(const Json& config, const path& file, DebertaConfig& deberta) {
  const std::string name = platform::path_to_utf8(file);
  EncoderSizes& sizes = deberta.sizes;
  LB_ASSIGN_OR_RETURN(const auto width, core::read_size(config, "attention_head_size", 1, kHiddenSizeMax, name));
  if (width && *width * sizes.heads != sizes.hidden) {
    return unsupported_file(file, fmt::format("'attention_head_size' is {}, but 'hidden_size' divided by "
                                              "'num_attention_heads' is {}",
                                              *width, sizes.hidden / sizes.heads));
  }
  LB_ASSIGN_OR_RETURN(deberta.shares_projections, core::read_bool(config, "share_att_key", false, name));
  LB_ASSIGN_OR_RETURN(const std::string norms, core::read_text(config, "norm_rel_ebd", "none", name));
  for (const std::string& word : words_of(norms)) {
    constexpr std::array<std::string_view, 2> kKnown{"none", "layer_norm"};
    if (std::ranges::find(kKnown, word) == kKnown.end()) return unknown_word(file, "norm_rel_ebd", word, kKnown);
    if (word == "layer_norm") deberta.normalizes_positions = true;
  }
  LB_ASSIGN_OR_RETURN(const auto kernel, read_optional_size(config, "conv_kernel_size", kKernelMax, file));
  if (!kernel) return {};
  if (*kernel % 2 == 0)
    return unsupported_file(file, fmt::format("'conv_kernel_size' is {}, which is not odd", *kernel));
  deberta.kernel = *kernel;
  LB_RETURN_IF_ERROR(expect(config, file, "conv_groups", 1));
  LB_ASSIGN_OR_RETURN(deberta.convolution_activation, read_activation(config, "conv_act", file, "tanh"));
  return {};
}

}  // namespace

Result<DebertaConfig> read_deberta_config(const Json& config, const path& file, bool is_first) {
  const std::string name = platform::path_to_utf8(file);
  LB_RETURN_IF_ERROR(refuse_variants(config, file));
  DebertaConfig deberta;
  deberta.is_first = is_first;
  EncoderSizes& sizes = deberta.sizes;
  LB_RETURN_IF_ERROR(read_usual_sizes(config, file, sizes));
  LB_ASSIGN_OR_RETURN(const auto types, core::read_size(config, "type_vocab_size", 0, kTokenTypesMax, name));
  deberta.token_type_count = types.value_or(0);
  sizes.epsilon = 1e-7F;
  LB_RETURN_IF_ERROR(read_epsilon(config, "layer_norm_eps", file, sizes.epsilon));
  LB_ASSIGN_OR_RETURN(sizes.activation, read_activation(config, "hidden_act", file));
  LB_ASSIGN_OR_RETURN(const auto width, core::read_size(config, "embedding_size", 1, kHiddenSizeMax, name));
  deberta.embedding_size = width.value_or(sizes.hidden);
  LB_ASSIGN_OR_RETURN(deberta.has_positions, core::read_bool(config, "position_biased_input", true, name));
  LB_RETURN_IF_ERROR(read_position_terms(config, file, deberta));
  LB_RETURN_IF_ERROR(read_span(config, file, deberta));
  if (is_first) {
    LB_RETURN_IF_ERROR(expect(config, file, "talking_head", false));
  } else {
    LB_RETURN_IF_ERROR(read_second_version(config, file, deberta));
  }
  return deberta;
}

}  // namespace latebind::embedding

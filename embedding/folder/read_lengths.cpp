#include "embedding/folder/read_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/quote.h"
#include "embedding/folder/modules.h"
#include "embedding/folder/refusals.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::read_bool;
using core::read_size;
using core::read_text;
using core::Result;
using std::filesystem::path;

namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::int64_t>::max();

}  // namespace

Result<std::size_t> count_positions(const ConfigFile& config, const Network* network) {
  LB_ASSIGN_OR_RETURN(const auto said, read_size(*config.read, "max_position_embeddings", kTokensMin, kTokensMax,
                                                 platform::path_to_utf8(config.file)));
  if (network == nullptr) return said.value_or(kTokensMax);
  const std::size_t count = network->tokens_max();
  if (count >= kTokensMin) return count;
  return invalid_file(config.file, fmt::format("the network has positions for {} tokens of a text, must be at least {}",
                                               count, kTokensMin));
}

Result<std::size_t> read_max_tokens(const FolderContents& contents, std::size_t positions) {
  const auto& [file, config] = contents.of_transformer;
  if (config) {
    const std::string name = platform::path_to_utf8(file);
    LB_ASSIGN_OR_RETURN(const bool lower, read_bool(*config, "do_lower_case", false, name));
    if (lower) {
      return unsupported_file(file, "'do_lower_case' is true: lower-casing outside of the tokenizer is not supported");
    }
    LB_ASSIGN_OR_RETURN(const auto limit, read_size(*config, "max_seq_length", kTokensMin, kUnlimited, name));
    if (limit) return std::min(*limit, positions);
  }
  const auto& tokenizer_config = contents.tokenizer_config.read;
  if (!tokenizer_config) return positions;
  const auto* const limit = core::find_member(*tokenizer_config, "model_max_length");
  if (limit == nullptr || !limit->is_number()) return positions;
  // Tokenizers without a limit declare 1e30.
  const double value = limit->get<double>();
  if (value >= static_cast<double>(positions)) return positions;
  if (!(value >= static_cast<double>(kTokensMin))) {
    return invalid_file(contents.tokenizer_config.file,
                        fmt::format("'model_max_length' is {}, must be at least {}", value, kTokensMin));
  }
  return static_cast<std::size_t>(value);
}

Result<std::size_t> read_truncation(const ModelFiles& files, const path& file, std::size_t most) {
  LB_ASSIGN_OR_RETURN(const auto tokenizer, read_object(files, file, {.bytes_max = Tokenizer::kFileBytesMax}));
  if (!tokenizer) return most;
  const auto* const truncation = core::find_member(*tokenizer, "truncation");
  if (truncation == nullptr) return most;
  const std::string name = platform::path_to_utf8(file);
  if (!truncation->is_object()) return invalid_file(file, "'truncation' is not an object");
  LB_ASSIGN_OR_RETURN(const std::string direction, read_text(*truncation, "direction", "Right", name));
  if (direction != "Right") {
    return unsupported_file(
        file, fmt::format("'truncation' is to the '{}': only texts that are cut at their end are supported",
                          printable(direction)));
  }
  LB_ASSIGN_OR_RETURN(const auto length, read_size(*truncation, "max_length", 1, kUnlimited, name));
  return std::min(length.value_or(most), most);
}

}  // namespace latebind::embedding

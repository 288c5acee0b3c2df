#include "embedding/folder/pooling_mode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/folder/known_words.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::printable;
using core::read_bool;
using core::read_text;
using core::Result;
using core::words_of;
using graph::PoolingMode;
using std::filesystem::path;

namespace {

struct NamedMode {
  std::string_view name;  // the name in newer files
  const char* key;        // the key in older files
  PoolingMode mode{};
};

constexpr std::array kModes{
    NamedMode{"cls", "pooling_mode_cls_token", PoolingMode::kCls},
    NamedMode{"mean", "pooling_mode_mean_tokens", PoolingMode::kMean},
    NamedMode{"max", "pooling_mode_max_tokens", PoolingMode::kMax},
    NamedMode{"lasttoken", "pooling_mode_lasttoken", PoolingMode::kLastToken},
    NamedMode{"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens", PoolingMode::kMeanSqrt},
    NamedMode{"weightedmean", "pooling_mode_weightedmean_tokens", PoolingMode::kWeightedMean}};

}  // namespace

Result<PoolingMode> read_pooling_mode(const Json& config, const path& file) {
  const std::string name = platform::path_to_utf8(file);
  std::vector<const NamedMode*> chosen;
  LB_ASSIGN_OR_RETURN(const std::string word, read_text(config, "pooling_mode", "", name));
  if (!word.empty()) {
    const auto* found = std::ranges::find(kModes, word, &NamedMode::name);
    if (found == kModes.end()) {
      return unknown_word(file, "pooling_mode", word, words_of(kModes, &NamedMode::name));
    }
    chosen.push_back(found);
  } else {
    for (const NamedMode& mode : kModes) {
      // The mean is on if its key is absent.
      LB_ASSIGN_OR_RETURN(const bool on, read_bool(config, mode.key, mode.mode == PoolingMode::kMean, name));
      if (on) chosen.push_back(&mode);
    }
    for (const auto& member : config.members()) {
      const std::string& key = member.first;
      const bool known = std::ranges::any_of(kModes, [&](const NamedMode& mode) { return key == mode.key; });
      if (key.starts_with("pooling_mode_") && !known && member.second != Json(false)) {
        return unsupported_file(file, fmt::format("'{}' is not supported{}", printable(key),
                                                  core::supported_instead(key, words_of(kModes, &NamedMode::key))));
      }
    }
  }
  if (chosen.empty()) return invalid_file(file, "no pooling mode is set");
  if (chosen.size() > 1) {
    return unsupported_file(file, fmt::format("several pooling modes at once ({} and {}) are not supported",
                                              chosen[0]->name, chosen[1]->name));
  }
  return chosen.front()->mode;
}

std::string_view name_of_pooling(PoolingMode mode) {
  return std::ranges::find(kModes, mode, &NamedMode::mode)->name;
}

}  // namespace latebind::embedding

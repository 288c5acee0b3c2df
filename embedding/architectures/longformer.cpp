#include "embedding/architectures/longformer.h"

#include <fmt/format.h>

#include "embedding/architectures/bert.h"
#include "embedding/architectures/roberta.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_longformer(const Json& config, const path& file) {
  constexpr std::size_t kWindow = 512;       // of both sides together, if the key is absent
  constexpr std::size_t kWindowMost = 8192;  // twice graph::Attention's
  constexpr const char* kKey = "attention_window";
  LB_ASSIGN_OR_RETURN(BertConfig longformer, read_roberta_config(config, file));
  longformer.prefix = "longformer.";
  const std::size_t layers = longformer.sizes.layers;
  const auto given = config.find(kKey);
  const Json windows = given == nullptr ? Json(kWindow) : *given;
  if (windows.is_array() && windows.size() != layers)
    return invalid_file(file, fmt::format("'{}' is not a list of {} layers", kKey, layers));
  for (std::size_t i = 0; i < layers; ++i) {
    const Json& one = windows.is_array() ? windows[i] : windows;
    const double window = one.is_number() ? one.get<double>() : 0;
    const auto whole = window >= 2 && window <= static_cast<double>(kWindowMost) ? static_cast<std::size_t>(window) : 0;
    if (whole == 0 || static_cast<double>(whole) != window || whole % 2 != 0) {
      return invalid_file(file, fmt::format("'{}' is {}; it must be an even number from 2 to {}, or one for each layer",
                                            kKey, core::printable_json(windows), kWindowMost));
    }
    longformer.windows.push_back(whole / 2);
  }
  return make_bert_network(longformer);
}

}  // namespace latebind::embedding

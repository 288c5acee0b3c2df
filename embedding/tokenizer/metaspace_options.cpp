#include "embedding/tokenizer/metaspace_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/text/nearest_word.h"
#include "core/text/quote.h"

namespace latebind::embedding {

using core::Result;
using core::Status;
using core::StatusCode;

Result<MetaspaceOptions> read_metaspace_options(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type", "replacement", "add_prefix_space", "prepend_scheme", "split", "str_rep"}));
  MetaspaceOptions options;
  LB_ASSIGN_OR_RETURN(options.replacement, view.character("replacement"));
  const auto has = [&view](std::string_view key) { return view.find(key) != nullptr && !view.find(key)->is_null(); };
  if (has("str_rep")) LB_RETURN_IF_ERROR(view.string("str_rep").status());  // repeats the replacement
  if (has("split")) {
    LB_ASSIGN_OR_RETURN(options.split, view.boolean("split"));
  }
  if (view.find("prepend_scheme") != nullptr) {
    LB_ASSIGN_OR_RETURN(const std::string scheme, view.string("prepend_scheme"));
    constexpr std::array<std::string_view, 3> kSchemes{"always", "first", "never"};
    if (std::ranges::find(kSchemes, scheme) == kSchemes.end()) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("{}.prepend_scheme {} is not supported{}", view.name(), core::quoted(scheme),
                                core::supported_instead(scheme, kSchemes)));
    }
    if (scheme != "always") options.prepends = scheme == "first" ? Prepends::kFirst : Prepends::kNever;
  }
  // Files of early versions use this key, and later ones have both.
  if (has("add_prefix_space")) {
    LB_ASSIGN_OR_RETURN(const bool adds, view.boolean("add_prefix_space"));
    if (!adds && options.prepends != Prepends::kNever) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("{}.add_prefix_space is false, and prepend_scheme is not 'never'", view.name()));
    }
  }
  return options;
}

}  // namespace latebind::embedding

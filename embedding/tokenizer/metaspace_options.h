// The options in the file of all parts named Metaspace. A value.
#pragma once

#include <string>

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"

namespace latebind::embedding {

// When the replacement is put in front of a piece that does not begin with it.
enum class Prepends { kAlways, kFirst, kNever };  // kFirst: only for a piece at the beginning of the text

struct MetaspaceOptions {
  std::string replacement;  // the character that represents a space
  Prepends prepends = Prepends::kAlways;
  bool split = true;  // whether the text is split into words
};

[[nodiscard]] core::Result<MetaspaceOptions> read_metaspace_options(const JsonView& view);

}  // namespace latebind::embedding

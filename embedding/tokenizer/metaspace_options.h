// What every part named Metaspace has in the file.
#pragma once

#include <string>

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"

namespace latebind::embedding {

// Where the replacement is put in front of what does not begin with it.
enum class Prepends { kAlways, kFirst, kNever };  // kFirst: of what stands at the very beginning alone

struct MetaspaceOptions {
  std::string replacement;  // the character that stands for a space
  Prepends prepends = Prepends::kAlways;
  bool split = true;  // into words
};

[[nodiscard]] core::Result<MetaspaceOptions> read_metaspace_options(const JsonView& view);

}  // namespace latebind::embedding

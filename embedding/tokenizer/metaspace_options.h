// What every part named Metaspace has in the file.
#pragma once

#include <string>

#include "core/result.h"
#include "embedding/tokenizer/json_view.h"

namespace latebind::embedding {

struct MetaspaceOptions {
  std::string replacement;  // the character that stands for a space
  // Whether it is put in front of a text that does not begin with it.
  bool prepends = true;
  bool split = true;  // into words
};

[[nodiscard]] core::Result<MetaspaceOptions> read_metaspace_options(const JsonView& view);

}  // namespace latebind::embedding

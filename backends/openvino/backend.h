// The openvino backend of Latebind.
#pragma once

#include <memory>
#include <string>

#include "core/backend.h"

namespace latebind::openvino {

// Where to find the vendor library, when not by the search.
struct BackendOptions {
  // The library file or its folder; wins over the environment and the search. UTF-8. Empty: search.
  std::string library_path{};
};

// Opens nothing.
[[nodiscard]] std::shared_ptr<core::Backend> make_backend(BackendOptions options = {});

}  // namespace latebind::openvino

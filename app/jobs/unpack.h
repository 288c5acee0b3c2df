// A bundle as a folder, for tools that read no ZIP.
#pragma once

#include <string>

#include "app/client.h"
#include "app/json_text.h"
#include "core/result.h"

namespace latebind::app {

struct UnpackReport {
  std::string folder{};
  bool options_are_wrong = false;  // the failure is in where it should go
  core::Status failure{};
};

// `folder`: absent or empty; it appears only when it is complete. Every file is checked on its way. Failures:
// kInvalidArgument for a folder that cannot be meant, kInvalidModel for a bundle that is damaged, and the errors of
// reading and writing.
[[nodiscard]] UnpackReport unpack(const std::string& bundle, const std::string& folder, const Client& client);

// {folder}
[[nodiscard]] Json to_json(const UnpackReport& report);

}  // namespace latebind::app

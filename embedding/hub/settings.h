// Settings of the hub, read from the environment variables that the hub's other tools use. A value type.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "core/result.h"

namespace latebind::embedding::hub {

struct Settings {
  std::string endpoint;  // without a '/' at the end
  std::filesystem::path cache_folder;
  std::optional<std::string> token;  // never shown
  bool offline = false;
  bool links = true;          // false: snapshots hold copies
  std::string authorities{};  // a file of certificates; empty: the library's own
  // Limits for a time without data: for queries, and during a download.
  std::chrono::seconds answer_timeout{10};
  std::chrono::seconds stall_timeout{10};

  // Reads HF_ENDPOINT; HF_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME; HF_TOKEN, HF_TOKEN_PATH, HF_HOME/token;
  // HF_HUB_OFFLINE; HF_HUB_DISABLE_SYMLINKS; SSL_CERT_FILE; HF_HUB_ETAG_TIMEOUT, HF_HUB_DOWNLOAD_TIMEOUT.
  // kInvalidArgument names the invalid variable.
  static core::Result<Settings> from_environment();
};

}  // namespace latebind::embedding::hub

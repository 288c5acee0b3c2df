// Jobs on the compile cache: list, verify, clear.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/json_text.h"
#include "app/settings.h"
#include "core/cache/compile_store.h"
#include "core/result.h"

namespace latebind::app {

// Opens the cache that the settings name. Returns kNotFound if there is no folder for it.
[[nodiscard]] core::Result<std::unique_ptr<core::CompileStore>> open_cache(const Settings& settings);

struct CacheListing {
  std::filesystem::path folder;
  std::vector<core::CompileStore::Entry> entries;  // most recently used first
  std::uint64_t bytes = 0;
};
[[nodiscard]] core::Result<CacheListing> list_cache(const core::CompileStore& store);

struct CacheVerification {
  std::size_t checked = 0;
  std::vector<core::CompileStore::Entry> damaged;  // and removed
};
[[nodiscard]] core::Result<CacheVerification> verify_cache(core::CompileStore& store);

// "2026-11-21T13:05:09Z".
[[nodiscard]] std::string utc_text(std::filesystem::file_time_type time);

// {folder, entries: [{file, model, device, runtime_version, precision, bytes, last_used, damage}], bytes}
[[nodiscard]] Json to_json(const CacheListing& listing);
// {checked, damaged: […]}, entries as above.
[[nodiscard]] Json to_json(const CacheVerification& verification);
// {entries, bytes} of what was removed.
[[nodiscard]] Json to_json(const core::CompileStore::Freed& freed);

}  // namespace latebind::app

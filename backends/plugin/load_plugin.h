// Plugin: a plug-in's table that was checked, and how its library is opened.
//
// A library is opened once and never closed: its threads may live as long as the process. A Plugin is immutable and may
// be used from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/plugin/contract.h"
#include "backends/plugin/host.h"
#include "core/backend/backend_setting.h"
#include "core/platform/process_generation.h"
#include "core/result.h"

namespace latebind::plugin {

// A setting of a plug-in. Its key has no prefix: "library".
struct Setting {
  std::string key;
  std::string value;  // what a value looks like
  std::string help;
  std::vector<std::string> words;  // the allowed ones; empty if any text or, with bounds, any number is allowed
  bool is_number = false;
  std::int64_t least = 0;
  std::int64_t most = 0;
};

struct Plugin {
  // The slots: null where the plug-in has none, or has a table that does not reach there.
  lbb_table slots;
  std::string name;
  std::string version;
  std::string maker;  // may be empty
  std::vector<Setting> settings;
  std::filesystem::path file;  // empty for a table in this program
  std::string digest;          // SHA-256 of the file; empty for a table in this program
  platform::MadeIn opened{};   // in a child made by fork() it cannot be used
  // Creates the state of an isolated plug-in instead of slots.create(). Empty for other plug-ins.
  std::function<void(const lbb_pair* const* settings, std::size_t count, lbb_backend** backend)> create{};

  // Returns the value of each setting that is given. kInvalidArgument names a key that the plug-in does not have, or a
  // value that it does not allow.
  [[nodiscard]] core::Status check(const core::BackendSettingTexts& texts) const;
  // Returns kLibraryUnusable in a child made by fork() after the plug-in was opened.
  [[nodiscard]] core::Status check_process() const;
};

using PluginPointer = std::shared_ptr<const Plugin>;

// Checks a table, of which nothing is believed before its size and its required slots were checked. kLibraryUnusable
// says what is wrong with it. `host` is what its entry function got.
[[nodiscard]] core::Result<PluginPointer> check_table(const lbb_table* table, const lbb_host& host = own_host());

// Opens the library, asks it for its table and checks that. `digest` is the SHA-256 of the file if it is known, which
// is computed otherwise. Errors: those of platform::DynamicLibrary::open(); kLibraryUnusable for a library that is no
// plug-in, whose table is wrong, or that speaks no version of the contract with this host.
[[nodiscard]] core::Result<PluginPointer> load_plugin(const std::filesystem::path& file, std::string digest = {},
                                                      const lbb_host& host = own_host());

}  // namespace latebind::plugin

// Subject: the backend that is checked: a plug-in, or one that is built into Latebind.
//
// find() opens nothing, so the parent process may call it; everything else belongs to the child. May be used from any
// thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "backends/plugin/load_plugin.h"
#include "core/backend/backend.h"
#include "core/backend/backend_setting.h"
#include "core/result.h"
#include "kit/options.h"

namespace latebind::kit {

class Subject {
 public:
  // Finds what the user names: a library or a manifest by its path, a backend by its name. kNotFound names the backends
  // that there are; kInvalidArgument for settings of a key that no built-in backend has.
  [[nodiscard]] static core::Result<Subject> find(const Options& options);

  [[nodiscard]] bool is_plugin() const { return !library_.empty(); }
  // The backend's name for a built-in one; for a plug-in the path of its library.
  [[nodiscard]] std::string label() const;
  [[nodiscard]] const std::filesystem::path& library() const { return library_; }
  // The plug-in's settings, by key.
  [[nodiscard]] const core::BackendSettingTexts& settings() const { return settings_; }

  // Opens the plug-in's library, with watching_host() as its host. A process may do so once.
  [[nodiscard]] core::Result<plugin::PluginPointer> open() const;
  // Makes a new backend. `opened` is the plug-in, and null for a built-in backend.
  [[nodiscard]] core::Result<std::shared_ptr<core::Backend>> make_backend(const plugin::PluginPointer& opened) const;

 private:
  std::string name_;               // of a built-in backend
  std::filesystem::path library_;  // of a plug-in, a full path
  core::BackendSettingTexts settings_;
};

}  // namespace latebind::kit

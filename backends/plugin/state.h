// State: a plug-in's state (lbb_backend), which lives until the backend and everything made from it are destroyed.
// Immutable; may be used from any thread.
#pragma once

#include <memory>

#include "backends/plugin/load_plugin.h"
#include "core/backend/backend_setting.h"
#include "core/result.h"

namespace latebind::plugin {

class State;
using StatePointer = std::shared_ptr<const State>;

class State {
 public:
  // Creates the state with these settings, which are checked first. The errors of Plugin::check() and of the plug-in.
  [[nodiscard]] static core::Result<StatePointer> create(PluginPointer plugin,
                                                         const core::BackendSettingTexts& settings);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  [[nodiscard]] const Plugin& plugin() const { return *plugin_; }
  [[nodiscard]] const lbb_table& slots() const { return plugin_->slots; }
  [[nodiscard]] lbb_backend* handle() const { return handle_; }

 private:
  State(PluginPointer plugin, lbb_backend* handle) : plugin_(std::move(plugin)), handle_(handle) {}

  const PluginPointer plugin_;
  lbb_backend* const handle_;
};

}  // namespace latebind::plugin

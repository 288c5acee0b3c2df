#include "backends/plugin/state.h"

#include <fmt/format.h>

#include <deque>
#include <utility>
#include <vector>

#include "backends/plugin/host.h"
#include "core/log.h"

namespace latebind::plugin {

using core::Result;
using core::Status;
using core::StatusCode;

Result<StatePointer> State::create(PluginPointer plugin, const core::BackendSettingTexts& settings) {
  LB_RETURN_IF_ERROR(plugin->check_process());
  LB_RETURN_IF_ERROR(plugin->check(settings));
  std::deque<lbb_pair> pairs;
  std::vector<const lbb_pair*> list;
  for (const auto& [key, text] : settings) {
    lbb_pair& pair = pairs.emplace_back(sized<lbb_pair>());
    pair.key = key.c_str();
    pair.text = text.c_str();
    list.push_back(&pair);
  }
  lbb_backend* handle = nullptr;
  LB_RETURN_IF_ERROR(called(plugin->name, "create", [&](lbb_error* error) -> lbb_code {
    if (plugin->create) {
      plugin->create(list.data(), list.size(), &handle);
      return LBB_OK;
    }
    return plugin->slots.create(&own_host(), list.data(), list.size(), &handle, error);
  }));
  if (handle == nullptr) return breach(fmt::format("{} created no state, and reported no error", plugin->name));
  return StatePointer(new State(std::move(plugin), handle));
}

State::~State() {
  if (!plugin_->opened.this_process()) return;
  const Status destroyed = called_without_error(plugin_->name, "destroy", [&] { plugin_->slots.destroy(handle_); });
  if (!destroyed.ok()) core::log(core::LogLevel::kWarning, destroyed.to_string());
}

}  // namespace latebind::plugin

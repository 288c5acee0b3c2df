// RawPlugin: calls of a plug-in's slots without Latebind's host in between, for checks of the contract itself.
//
// Errors of slots come back as the Status that Latebind makes of them. Each call announces its objects to
// watching_host(), so that a use after the slot has returned is a breach. May be used from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/plugin/active.h"
#include "backends/plugin/load_plugin.h"
#include "core/backend/device.h"
#include "core/result.h"
#include "kit/raw/copied_model.h"
#include "kit/reference/array.h"

namespace latebind::kit {

// The state of a plug-in: one lbb_backend.
class RawState {
 public:
  // Calls create(). The plug-in's errors; kInternal if it returns LBB_OK and no state.
  [[nodiscard]] static core::Result<std::shared_ptr<RawState>> create(plugin::PluginPointer plugin,
                                                                      const core::BackendSettingTexts& settings = {});
  RawState(const RawState&) = delete;
  RawState& operator=(const RawState&) = delete;
  // Calls destroy().
  ~RawState();

  [[nodiscard]] const plugin::Plugin& plugin() const { return *plugin_; }
  [[nodiscard]] const lbb_table& slots() const { return plugin_->slots; }
  [[nodiscard]] lbb_backend* handle() const { return handle_; }

  [[nodiscard]] core::Status available();
  struct Listed {
    std::vector<core::Device> devices;
    std::vector<std::uint32_t> reads;
  };
  [[nodiscard]] core::Result<Listed> devices();

 private:
  RawState(plugin::PluginPointer plugin, lbb_backend* handle) : plugin_(std::move(plugin)), handle_(handle) {}

  const plugin::PluginPointer plugin_;
  lbb_backend* const handle_;
};

// How a run is made.
struct RawRun {
  std::int64_t deadline_ns = 0;
  bool is_cancelled = false;
  std::size_t growth = 0;  // of the structs, as CopyOptions::growth
  bool has_memory = true;  // false: lbb_host.prepare_output() returns null
  std::size_t side_by_side = 1;
};

class RawExecutable {
 public:
  // Calls load() and describe_executable(), and ends what is valid only during load().
  [[nodiscard]] static core::Result<std::unique_ptr<RawExecutable>> load(std::shared_ptr<RawState> state,
                                                                         std::unique_ptr<CopiedModel> model);
  RawExecutable(const RawExecutable&) = delete;
  RawExecutable& operator=(const RawExecutable&) = delete;
  // Calls destroy_executable().
  ~RawExecutable();

  [[nodiscard]] const plugin::Active& active() const { return active_; }
  [[nodiscard]] const RawState& state() const { return *state_; }
  [[nodiscard]] lbb_executable* handle() const { return handle_; }
  [[nodiscard]] CopiedModel& model() { return *model_; }
  // Calls describe_executable() again.
  [[nodiscard]] core::Result<plugin::Active> describe() const;

  // Calls execute() once, with outputs in memory that is guarded on both sides. kInternal if the plug-in changes an
  // input, writes outside of an output, or reports success without each output.
  [[nodiscard]] core::Result<std::vector<Array>> run(const Inputs& inputs, const RawRun& how = {});

 private:
  RawExecutable(std::shared_ptr<RawState> state, std::unique_ptr<CopiedModel> model, lbb_executable* handle,
                plugin::Active active)
      : state_(std::move(state)), model_(std::move(model)), handle_(handle), active_(std::move(active)) {}

  const std::shared_ptr<RawState> state_;
  const std::unique_ptr<CopiedModel> model_;  // owns the bytes of weights
  lbb_executable* const handle_;
  const plugin::Active active_;
};

// Calls takes(); ok without that slot.
[[nodiscard]] core::Status raw_takes(RawState& state, const CopiedModel& model);

}  // namespace latebind::kit

// The group "state": a plug-in's state, created and destroyed in every order.
#include <fmt/format.h>

#include <chrono>
#include <vector>

#include "kit/checks/all.h"
#include "kit/checks/common.h"

namespace latebind::kit {
namespace {

using core::Result;
using core::Status;

Result<Finding> create_and_destroy(Context& context) {
  LB_ASSIGN_OR_RETURN(const plugin::PluginPointer plugin, context.plugin());
  constexpr int kTimes = 100;
  for (int i = 0; i < kTimes; ++i) {
    context.step(fmt::format("create() and destroy(), the {}. time", i + 1));
    LB_RETURN_IF_ERROR(RawState::create(plugin, context.subject().settings()).status());
  }
  return passed(fmt::format("{} times", kTimes));
}

Result<Finding> live_side_by_side(Context& context) {
  LB_ASSIGN_OR_RETURN(const plugin::PluginPointer plugin, context.plugin());
  LB_ASSIGN_OR_RETURN(RawDevice second, raw_device(context));
  LB_ASSIGN_OR_RETURN(const Sample sample, raw_sample(context, second));
  {
    LB_ASSIGN_OR_RETURN(const auto first, RawState::create(plugin, context.subject().settings()));
    LB_RETURN_IF_ERROR(first->devices().status());
    context.step("destroy() of one of two states");
  }
  context.step("devices() of the other state");
  LB_RETURN_IF_ERROR(second.state->devices().status());
  LB_ASSIGN_OR_RETURN(const auto executable, second.load(sample.graph));
  std::mt19937 chance(context.options().seed);
  context.step("execute() of the other state");
  LB_RETURN_IF_ERROR(run_raw(*executable, sample, chance, 2));
  return passed();
}

Result<Finding> answer_many_threads(Context& context) {
  LB_ASSIGN_OR_RETURN(const RawDevice device, raw_device(context));
  context.step("devices() and available() on 8 threads");
  const Status together = on_threads(8, [&](std::size_t) -> Status {
    for (int i = 0; i < 10; ++i) {
      LB_RETURN_IF_ERROR(device.state->available());
      LB_ASSIGN_OR_RETURN(const RawState::Listed listed, device.state->devices());
      if (listed.devices.empty()) return wrong("devices() lists none when several threads ask");
    }
    return {};
  });
  LB_RETURN_IF_ERROR(together);
  LB_ASSIGN_OR_RETURN(const plugin::PluginPointer plugin, context.plugin());
  context.step("create() and destroy() on 8 threads");
  const Status together_too = on_threads(8, [&](std::size_t) -> Status {
    for (int i = 0; i < 10; ++i)
      LB_RETURN_IF_ERROR(RawState::create(plugin, context.subject().settings()).status());
    return {};
  });
  LB_RETURN_IF_ERROR(together_too);
  return passed();
}

// Every word, and both bounds of every number.
Result<Finding> take_all_settings(Context& context) {
  LB_ASSIGN_OR_RETURN(const plugin::PluginPointer plugin, context.plugin());
  std::size_t count = 0;
  for (const plugin::Setting& setting : plugin->settings) {
    std::vector<std::string> values = setting.words;
    if (setting.is_number) values = {std::to_string(setting.least), std::to_string(setting.most)};
    for (const std::string& value : values) {
      context.step(fmt::format("create() with {}={}", setting.key, value));
      core::BackendSettingTexts texts = context.subject().settings();
      texts[setting.key] = value;
      const auto state = RawState::create(plugin, texts);
      if (!state.ok())
        return wrong(fmt::format("create() refuses {}={}, which the setting allows: {}", setting.key, value,
                                 state.status().to_string()));
      ++count;
    }
  }
  if (plugin->settings.empty()) return absent("it has no settings");
  return passed(fmt::format("{} settings, {} values", plugin->settings.size(), count));
}

Result<Finding> be_available_again(Context& context) {
  LB_ASSIGN_OR_RETURN(const RawDevice device, raw_device(context));
  constexpr int kTimes = 200;
  // The contract says one millisecond; this machine may be busy.
  constexpr auto kMost = std::chrono::milliseconds(5);
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < kTimes; ++i)
    LB_RETURN_IF_ERROR(device.state->available());
  const auto each = (std::chrono::steady_clock::now() - began) / kTimes;
  const double milliseconds = std::chrono::duration<double, std::milli>(each).count();
  if (each > kMost)
    return wrong(
        fmt::format("available() takes {:.1f} ms when it was called before; later calls are cheap", milliseconds));
  return passed(fmt::format("{:.3f} ms each", milliseconds));
}

constexpr Check kStateChecks[] = {
    {.name = "state.create",
     .what = "A state can be created and destroyed many times, without a question in between.",
     .scope = Scope::kPlugin,
     .run = create_and_destroy},
    {.name = "state.two",
     .what = "Two states live side by side, and the end of one does not change the other.",
     .scope = Scope::kPlugin,
     .run = live_side_by_side},
    {.name = "state.threads",
     .what = "Slots of one state answer several threads at once.",
     .scope = Scope::kPlugin,
     .run = answer_many_threads},
    {.name = "state.settings",
     .what = "Each word and both bounds of each setting are taken by create().",
     .scope = Scope::kPlugin,
     .run = take_all_settings},
    {.name = "state.available",
     .what = "Later calls of available() are cheap.",
     .scope = Scope::kPlugin,
     .run = be_available_again}};

}  // namespace

std::span<const Check> state_checks() {
  return kStateChecks;
}

}  // namespace latebind::kit

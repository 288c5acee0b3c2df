// Context: what a check works with. It belongs to the child process that runs the check; one thread at a time, except
// step().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backends/plugin/load_plugin.h"
#include "core/backend/backend.h"
#include "core/backend/device.h"
#include "core/result.h"
#include "kit/subject.h"

namespace latebind::kit {

// Where a check says what it is doing, so that a crash or a hang has a name. May be called from any thread.
class Steps {
 public:
  Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  virtual ~Steps() = default;
  virtual void step(std::string_view what) = 0;
};

class Context {
 public:
  Context(const Subject& subject, const Options& options, Steps& steps)
      : subject_(subject), options_(options), steps_(steps) {}

  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] const Options& options() const { return options_; }
  // Says what begins now.
  void step(std::string_view what) { steps_.step(what); }

  // Makes a new backend. Errors: those of plugin() and of Subject::make_backend().
  [[nodiscard]] core::Result<std::shared_ptr<core::Backend>> make_backend();
  // The backend that is made at the first call.
  [[nodiscard]] core::Result<core::Backend*> backend();
  // The plug-in, opened at the first call. For plug-ins.
  [[nodiscard]] core::Result<plugin::PluginPointer> plugin();
  // The device under test, as the backend describes it. kDeviceNotFound if it is not there.
  [[nodiscard]] core::Result<core::Device> device();

 private:
  const Subject& subject_;
  const Options& options_;
  Steps& steps_;
  std::shared_ptr<core::Backend> backend_;
  plugin::PluginPointer plugin_;
};

}  // namespace latebind::kit

// Compiling a model for every device of the placement, so that later starts find it in the cache.
#pragma once

#include <string>
#include <vector>

#include "app/client.h"
#include "app/json_text.h"
#include "app/runtime.h"
#include "core/attestation.h"
#include "core/result.h"

namespace latebind::app {

struct WarmReport {
  struct OfDevice {
    std::string device;
    core::Status status;
    double seconds = 0;
    core::ActiveConfig active;  // when it succeeded
    std::string verification;   // likewise, where it was verified: core::Attestation
  };
  std::vector<OfDevice> devices;
};

// kInvalidArgument when these settings keep no compiled models.
[[nodiscard]] core::Status check_warm(const Settings& settings);

// `model`: a folder, or a name on the hub. The devices present, in the order of the placement; with strict loading only
// the first. An error only when nothing could be tried: that of check_warm(), kNotFound and kPermissionDenied of the
// cache's folder and of the model, kNoDevice.
[[nodiscard]] core::Result<WarmReport> warm(const std::string& model, const Runtime& runtime, const Client& client);

// {devices: [{device, ready, seconds, reason, verification}]}
[[nodiscard]] Json to_json(const WarmReport& report);

}  // namespace latebind::app

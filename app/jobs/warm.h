// Compiles a model for every device of the placement, so that later starts find it in the cache.
#pragma once

#include <string>
#include <vector>

#include "app/client.h"
#include "app/json_text.h"
#include "app/runtime.h"
#include "core/placement/attestation.h"
#include "core/result.h"

namespace latebind::app {

struct WarmReport {
  struct OfDevice {
    std::string device;
    core::Status status;
    double seconds = 0;
    core::ActiveConfig active;  // set on success
    std::string verification;   // set on success if verification is on: core::Attestation
  };
  std::vector<OfDevice> devices;
};

// Returns kInvalidArgument if the settings disable the cache.
[[nodiscard]] core::Status check_warm(const Settings& settings);

// `model` is a folder or a name on the hub. Tries the devices that are present, in the order of the placement; with
// strict loading, only the first. Returns an error only if no device could be tried: that of check_warm(), kNotFound or
// kPermissionDenied for the cache's folder or the model, or kNoDevice.
[[nodiscard]] core::Result<WarmReport> warm(const std::string& model, const Runtime& runtime, const Client& client);

// {devices: [{device, ready, seconds, reason, verification}]}
[[nodiscard]] Json to_json(const WarmReport& report);

}  // namespace latebind::app

// Lists the devices that are present, and why a backend has no device.
#pragma once

#include <string>
#include <vector>

#include "app/json_text.h"
#include "core/backend/registry.h"
#include "core/engine/engine.h"
#include "core/placement/placement.h"

namespace latebind::app {

struct DeviceListing {
  std::vector<core::BackendReport> backends;
};

// `virtual_too` also lists devices that are not in this machine but can be compiled for.
[[nodiscard]] DeviceListing list_devices(const core::Registry& registry, bool virtual_too);

// The devices that a placement stands for on this machine, in the order in which they are tried.
struct PlacementListing {
  std::string text;
  core::Precision precision = core::Precision::kF32;  // the precision that the order applies to
  std::vector<core::Placement::Candidate> candidates;
};
[[nodiscard]] PlacementListing list_placement(const core::Placement& placement, const core::Registry& registry,
                                              bool emulate, core::Precision precision);

// {version, devices, backends}, as `latebind devices --help` says.
[[nodiscard]] Json to_json(const DeviceListing& listing);
// {text, devices, refused: [{device, reason}]}
[[nodiscard]] Json to_json(const PlacementListing& listing);

}  // namespace latebind::app

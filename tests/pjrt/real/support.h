// The PJRT plug-ins of scripts/setup, and the backend pjrt on them, as a host has it: from its library.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

#include "backends/plugin/backend.h"
#include "backends/plugin/load_plugin.h"

namespace latebind::pjrt::testing {

struct Vendor {
  const char* name;
  const char* library;  // below build/runtime/pjrt

  [[nodiscard]] std::string file() const { return std::string(LATEBIND_SOURCE_DIR "/build/runtime/pjrt/") + library; }
  friend std::ostream& operator<<(std::ostream& out, const Vendor& vendor) { return out << vendor.name; }
};

inline constexpr Vendor kNewer{"lammps_jax_pjrt_cpu",
                               "lammps-jax-pjrt-cpu-0.11.2/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"};
inline constexpr Vendor kOlder{"xla_cpu_pjrt", "xla-cpu-pjrt-0.0.1/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"};

// A backend of its own.
inline std::shared_ptr<core::Backend> backend_on(const Vendor& vendor) {
  return std::make_shared<plugin::PluginBackend>(
      plugin::PluginSource{.name = "pjrt", .open = [] { return plugin::load_plugin(LATEBIND_BACKEND_PJRT); }},
      core::BackendSettingTexts{{"plugins", vendor.file()}});
}

class VendorTest : public ::testing::TestWithParam<Vendor> {
 protected:
  void SetUp() override {
    const core::Status status = backend_->available();
    ASSERT_TRUE(status.ok()) << status.to_string() << "; scripts/setup test installs the PJRT plug-ins";
  }
  const std::shared_ptr<core::Backend> backend_ = backend_on(GetParam());
};

}  // namespace latebind::pjrt::testing

// Report: what the kit has found, as data, and its forms. Values and pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kit/check.h"
#include "kit/options.h"

namespace latebind::kit {

struct CheckResult {
  std::string name{};
  std::string what{};
  Verdict verdict = Verdict::kPassed;
  std::string text{};
  double seconds = 0;

  [[nodiscard]] std::string_view group() const { return std::string_view(name).substr(0, name.find('.')); }
};

// What was checked for one device; for no device what concerns the backend as a whole.
struct DeviceReport {
  std::string device{};     // "adder:CPU"; empty for the backend
  std::string full_name{};  // for people
  std::vector<CheckResult> results{};
  std::string stopped{};  // why the other checks were not run; empty if all were
};

struct Report {
  std::string kit_version{};
  std::string subject{};  // the library or the backend, as Subject::label()
  std::string backend{};  // its name
  std::string version{};  // its version, and that of what drives the devices
  std::string maker{};
  std::string platform{};
  unsigned seed = 0;
  std::size_t cases = 0;
  std::vector<DeviceReport> devices{};

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  [[nodiscard]] double seconds() const;
  [[nodiscard]] bool has_failed() const { return count(Verdict::kFailed) > 0; }
};

// "63 checks in 12 s: 40 passed, 20 refused, 2 absent, 1 failed"
[[nodiscard]] std::string summary_of(const Report& report);
[[nodiscard]] std::string to_text(const Report& report);
[[nodiscard]] std::string to_junit(const Report& report);
[[nodiscard]] std::string to_json(const Report& report);
[[nodiscard]] std::string to_form(const Report& report, ReportFormat format);

}  // namespace latebind::kit

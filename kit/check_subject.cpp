#include "kit/check_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/platform/files/temporary_folder.h"
#include "core/platform/system_info.h"
#include "core/text/quote.h"
#include "kit/checks/all.h"
#include "kit/child.h"
#include "kit/subject.h"

namespace latebind::kit {
namespace {

// Checks of the backend as a whole; the others are about one device.
bool is_about_backend(const Check& check) {
  return check.group() == "table" || check.group() == "device";
}

bool is_wanted(const Check& check, const std::string& only) {
  return only.empty() || check.is_prerequisite || check.name == only || check.group() == only;
}

class Run {
 public:
  Run(const Options& options, const Subject& subject, const std::filesystem::path& folder,
      const std::function<void(const CheckResult&)>& told)
      : options_(options), subject_(subject), folder_(folder), told_(told) {}

  // Runs the checks of the backend or of a device. Returns false if a prerequisite has failed.
  core::Result<bool> run(DeviceReport& to, std::string_view device, bool about_backend) {
    for (const Check& check : all_checks()) {
      if (is_about_backend(check) != about_backend || !is_wanted(check, options_.only)) continue;
      if (check.scope == Scope::kPlugin && !subject_.is_plugin()) continue;
      core::Json data;
      LB_ASSIGN_OR_RETURN(CheckResult result,
                          run_in_child(options_, check, device, subject_.is_plugin(), folder_, &data));
      if (check.name == "table.open" || check.name == "device.available") about_ = std::move(data);
      if (check.name == "table.open") maker_ = about_.value("maker", "");
      if (check.name == "device.list") devices_ = std::move(data);
      if (told_) told_(result);
      const bool stops = check.is_prerequisite && result.verdict == Verdict::kFailed;
      to.results.push_back(std::move(result));
      if (!stops) continue;
      to.stopped = fmt::format("they need {}", check.name);
      return false;
    }
    return true;
  }

  [[nodiscard]] const core::Json& about() const { return about_; }
  [[nodiscard]] const std::string& maker() const { return maker_; }
  [[nodiscard]] const core::Json& devices() const { return devices_; }

 private:
  const Options& options_;
  const Subject& subject_;
  const std::filesystem::path& folder_;
  const std::function<void(const CheckResult&)>& told_;
  core::Json about_;
  core::Json devices_;
  std::string maker_;
};

}  // namespace

core::Result<Report> check_subject(const Options& options, const std::function<void(const CheckResult&)>& told) {
  const auto& all = all_checks();
  const auto is_named = [&](const Check& check) { return check.name == options.only || check.group() == options.only; };
  if (!options.only.empty() && std::ranges::none_of(all, is_named)) {
    return core::Status(core::StatusCode::kInvalidArgument,
                        fmt::format("there is no check or group {}; --list lists them", core::quoted(options.only)));
  }
  LB_ASSIGN_OR_RETURN(const Subject subject, Subject::find(options));
  LB_ASSIGN_OR_RETURN(const auto folder, platform::TemporaryFolder::create("conformance"));
  Report report;
  report.kit_version = LATEBIND_VERSION;
  report.platform = platform::platform_name();
  report.subject = subject.label();
  report.seed = options.seed;
  report.cases = options.cases;
  Run run(options, subject, folder.path(), told);
  DeviceReport& backend = report.devices.emplace_back();
  LB_ASSIGN_OR_RETURN(const bool goes_on, run.run(backend, options.device, /*about_backend=*/true));
  report.backend = run.about().value("name", "");
  report.version = run.about().value("version", "");
  report.maker = run.maker();
  if (!goes_on) return report;
  std::vector<std::pair<std::string, std::string>> devices;
  for (const core::Json& device : run.devices()) {
    const std::string name = device.value("name", "");
    if (options.device.empty() || options.device == name) devices.emplace_back(name, device.value("full_name", ""));
  }
  if (devices.empty()) {
    return core::Status(core::StatusCode::kDeviceNotFound,
                        fmt::format("{} has no device {}", report.backend, core::quoted(options.device)));
  }
  for (const auto& [name, full_name] : devices) {
    DeviceReport& device = report.devices.emplace_back();
    device.device = fmt::format("{}:{}", report.backend, name);
    device.full_name = full_name;
    LB_RETURN_IF_ERROR(run.run(device, name, /*about_backend=*/false).status());
  }
  return report;
}

}  // namespace latebind::kit

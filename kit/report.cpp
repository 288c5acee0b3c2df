#include "kit/report.h"

#include <algorithm>
#include <iterator>

#include "core/json/value.h"
#include "core/text/format_to.h"

namespace latebind::kit {
namespace {

// What XML does not allow inside an attribute or a text. The texts of a report are single lines of UTF-8.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string title_of(const Report& report, const DeviceReport& device) {
  if (device.device.empty()) return report.backend.empty() ? report.subject : report.backend;
  return device.device;
}

core::Json json_of(const CheckResult& result) {
  return core::Json::object({{"name", result.name},
                             {"what", result.what},
                             {"verdict", word_of(result.verdict)},
                             {"text", result.text},
                             {"seconds", result.seconds}});
}

core::Json json_of(const DeviceReport& device) {
  core::Json results = core::Json::array();
  for (const CheckResult& result : device.results)
    results.push_back(json_of(result));
  return core::Json::object({{"device", device.device},
                             {"full_name", device.full_name},
                             {"stopped", device.stopped},
                             {"checks", std::move(results)}});
}

}  // namespace

std::size_t Report::count(Verdict verdict) const {
  std::size_t count = 0;
  for (const DeviceReport& device : devices)
    count += static_cast<std::size_t>(std::ranges::count(device.results, verdict, &CheckResult::verdict));
  return count;
}

double Report::seconds() const {
  double sum = 0;
  for (const DeviceReport& device : devices) {
    for (const CheckResult& result : device.results)
      sum += result.seconds;
  }
  return sum;
}

std::string summary_of(const Report& report) {
  std::size_t all = 0;
  for (const DeviceReport& device : report.devices)
    all += device.results.size();
  return fmt::format("{} checks in {:.0f} s: {} passed, {} refused, {} absent, {} failed", all, report.seconds(),
                     report.count(Verdict::kPassed), report.count(Verdict::kRefused), report.count(Verdict::kAbsent),
                     report.count(Verdict::kFailed));
}

std::string to_text(const Report& report) {
  std::string text =
      fmt::format("latebind-conformance {} on {}: {}\n", report.kit_version, report.platform, report.subject);
  const auto out = std::back_inserter(text);
  if (!report.backend.empty()) {
    fmt::format_to(out, "{} {}{}, seed {}, {} cases for each operator\n", report.backend, report.version,
                   report.maker.empty() ? "" : " of " + report.maker, report.seed, report.cases);
  }
  for (const DeviceReport& device : report.devices) {
    fmt::format_to(out, "\n{}{}\n", title_of(report, device),
                   device.full_name.empty() ? "" : " (" + device.full_name + ")");
    for (const CheckResult& result : device.results) {
      const bool failed = result.verdict == Verdict::kFailed;
      fmt::format_to(out, "  {:<8} {:<28} {}\n", failed ? "FAILED" : word_of(result.verdict), result.name,
                     result.text.empty() ? result.what : result.text);
      if (failed) fmt::format_to(out, "  {:<8} {:<28} what must hold: {}\n", "", "", result.what);
    }
    if (!device.stopped.empty()) fmt::format_to(out, "  the other checks were not run: {}\n", device.stopped);
  }
  fmt::format_to(out, "\n{}\n", summary_of(report));
  return text;
}

std::string to_junit(const Report& report) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "<testsuites name=\"latebind-conformance {}\" time=\"{:.3f}\">\n", report.kit_version,
                 report.seconds());
  for (const DeviceReport& device : report.devices) {
    const auto count = [&](Verdict verdict) {
      return std::ranges::count(device.results, verdict, &CheckResult::verdict);
    };
    fmt::format_to(out, "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
                   escaped(title_of(report, device)), device.results.size(), count(Verdict::kFailed),
                   count(Verdict::kRefused) + count(Verdict::kAbsent));
    for (const CheckResult& result : device.results) {
      const std::string reason = escaped(result.text);
      fmt::format_to(out, "<testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">", escaped(title_of(report, device)),
                     escaped(result.name), result.seconds);
      if (result.verdict == Verdict::kFailed) {
        fmt::format_to(out, "<failure message=\"{}\">{}</failure>", reason, escaped(result.what));
      } else if (result.verdict != Verdict::kPassed) {
        fmt::format_to(out, "<skipped message=\"{}: {}\"/>", word_of(result.verdict), reason);
      }
      text += "</testcase>\n";
    }
    text += "</testsuite>\n";
  }
  text += "</testsuites>\n";
  return text;
}

std::string to_json(const Report& report) {
  core::Json devices = core::Json::array();
  for (const DeviceReport& device : report.devices)
    devices.push_back(json_of(device));
  const core::Json json = core::Json::object({{"format", 1},
                                              {"kit_version", report.kit_version},
                                              {"platform", report.platform},
                                              {"subject", report.subject},
                                              {"backend", report.backend},
                                              {"version", report.version},
                                              {"maker", report.maker},
                                              {"seed", report.seed},
                                              {"cases", report.cases},
                                              {"passed", report.count(Verdict::kPassed)},
                                              {"refused", report.count(Verdict::kRefused)},
                                              {"absent", report.count(Verdict::kAbsent)},
                                              {"failed", report.count(Verdict::kFailed)},
                                              {"devices", std::move(devices)}});
  return json.dump(2) + "\n";
}

std::string to_form(const Report& report, ReportFormat format) {
  switch (format) {
    case ReportFormat::kJunit:
      return to_junit(report);
    case ReportFormat::kJson:
      return to_json(report);
    case ReportFormat::kText:
      break;
  }
  return to_text(report);
}

}  // namespace latebind::kit

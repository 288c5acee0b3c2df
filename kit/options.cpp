#include "kit/options.h"

#include <fmt/format.h>

#include <functional>
#include <string_view>

#include "core/config.h"
#include "core/text/quote.h"

namespace latebind::kit {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::int64_t kSecondsMax = 7 * 24 * 3600;
constexpr std::int64_t kCasesMax = 1'000'000;

Status usage(std::string text) {
  return Status(StatusCode::kInvalidArgument, std::move(text) + "; see latebind-conformance --help");
}

Status take_seconds(std::string_view what, std::string_view text, std::chrono::seconds& to) {
  LB_ASSIGN_OR_RETURN(const std::int64_t number, core::parse_integer(what, text, 0, kSecondsMax));
  to = std::chrono::seconds(number);
  return {};
}

Status take_format(std::string_view text, ReportFormat& to) {
  if (text == "text") to = ReportFormat::kText;
  if (text == "junit") to = ReportFormat::kJunit;
  if (text == "json") to = ReportFormat::kJson;
  if (text == "text" || text == "junit" || text == "json") return {};
  return usage(fmt::format("unknown report {}; known: text, junit, json", core::quoted(text)));
}

Status take_setting(std::string_view text, Options& options) {
  const auto sign = text.find('=');
  if (sign == 0 || sign == std::string_view::npos)
    return usage(fmt::format("--set takes KEY=VALUE, not {}", core::quoted(text)));
  options.settings.emplace_back(text.substr(0, sign), text.substr(sign + 1));
  return {};
}

// An option with a value.
Status take(std::string_view name, const std::string& value, Options& options) {
  if (name == "--device") return options.device = value, Status();
  if (name == "--output") return options.output = value, Status();
  if (name == "--only") return options.only = value, Status();
  if (name == "--report") return take_format(value, options.format);
  if (name == "--soak") return take_seconds(name, value, options.soak);
  if (name == "--time-limit") return take_seconds(name, value, options.time);
  if (name == "--set") return take_setting(value, options);
  if (name == "--run-check") return options.run_check = value, Status();
  if (name == "--result-file") return options.result_file = value, Status();
  if (name == "--seed") {
    LB_ASSIGN_OR_RETURN(const std::int64_t number, core::parse_integer(name, value, 0, UINT32_MAX));
    return options.seed = static_cast<std::uint32_t>(number), Status();
  }
  if (name == "--cases") {
    LB_ASSIGN_OR_RETURN(const std::int64_t number, core::parse_integer(name, value, 1, kCasesMax));
    return options.cases = static_cast<std::size_t>(number), Status();
  }
  return usage(fmt::format("unknown option {}", core::quoted(name)));
}

}  // namespace

Result<Options> parse_options(std::span<const std::string> arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (!argument.starts_with('-')) {
      if (!options.subject.empty()) return usage(fmt::format("{} is one argument too many", core::quoted(argument)));
      options.subject = argument;
      continue;
    }
    if (argument == "--help" || argument == "-h") options.help = true;
    if (argument == "--version") options.version = true;
    if (argument == "--list") options.list = true;
    if (argument == "--help" || argument == "-h" || argument == "--version" || argument == "--list") continue;
    const auto sign = argument.find('=');
    const std::string name = argument.substr(0, sign);
    if (sign == std::string::npos && i + 1 == arguments.size())
      return usage(fmt::format("{} needs a value", core::quoted(name)));
    LB_RETURN_IF_ERROR(take(name, sign == std::string::npos ? arguments[++i] : argument.substr(sign + 1), options));
  }
  if (options.subject.empty() && !options.help && !options.version && !options.list)
    return usage("name a plug-in's library or manifest, or a backend");
  return options;
}

std::vector<std::string> arguments_of_child(const Options& options, std::string_view check, std::string_view device,
                                            std::string_view result_file) {
  std::vector<std::string> arguments{options.subject,
                                     fmt::format("--run-check={}", check),
                                     fmt::format("--result-file={}", result_file),
                                     fmt::format("--device={}", device),
                                     fmt::format("--seed={}", options.seed),
                                     fmt::format("--cases={}", options.cases),
                                     fmt::format("--soak={}", options.soak.count())};
  for (const auto& [key, value] : options.settings)
    arguments.push_back(fmt::format("--set={}={}", key, value));
  return arguments;
}

std::string help_text() {
  return
      R"(Checks that a backend does what Latebind's contract for backends says.

usage: latebind-conformance PLUGIN|BACKEND [options]

  PLUGIN                a plug-in's shared library, or its manifest (NAME.json)
  BACKEND               the name of a backend of this machine: native, openvino, onnxruntime, or a plug-in's

  --device DEVICE       checks one device ("CPU"); by default each that is present
  --only CHECK          runs one check ("run.outputs") or one group ("run")
  --report FORMAT       text, junit or json; by default text
  --output FILE         writes the report to a file, and a summary to standard output
  --set KEY=VALUE       sets a setting of the backend
  --cases N             random graphs for each operator; by default 60
  --seed N              chooses the random graphs; by default 1
  --soak SECONDS        adds a check that loads and runs from many threads for so long
  --time-limit SECONDS  replaces the time limit of each check
  --list                lists the checks
  --version, --help

Each check runs in a process of its own. Exit status: 0 if no check failed, 1 if one did, 2 if nothing could be checked.
docs/conformance-kit.md explains the report.
)";
}

}  // namespace latebind::kit

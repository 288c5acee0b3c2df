// The program latebind-conformance.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "core/platform/child_process.h"
#include "core/platform/files/folders.h"
#include "core/platform/standard_streams.h"
#include "core/platform/thread.h"
#include "kit/check_subject.h"
#include "kit/checks/all.h"
#include "kit/child.h"
#include "kit/options.h"
#include "kit/report.h"

namespace latebind::kit {
namespace {

constexpr int kGood = 0;
constexpr int kFailedChecks = 1;
constexpr int kNothingChecked = 2;

int fail(const core::Status& status) {
  platform::write_to_error_stream("latebind-conformance: " + status.to_string() + "\n");
  return kNothingChecked;
}

bool write(std::FILE* to, const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fflush(to) == 0;
}

// Writes the report to standard output or, with a summary there, to a file.
int deliver(const Options& options, const Report& report) {
  const std::string text = to_form(report, options.format);
  if (options.output.empty()) {
    if (!write(stdout, text)) return fail(core::Status(core::StatusCode::kIo, "cannot write to standard output"));
  } else {
    std::FILE* const file = std::fopen(options.output.c_str(), "wb");
    const bool is_written = file != nullptr && write(file, text);
    if (file != nullptr) std::fclose(file);
    if (!is_written) return fail(core::Status(core::StatusCode::kIo, "cannot write '" + options.output + "'"));
    static_cast<void>(write(stdout, summary_of(report) + "\n"));
  }
  return report.has_failed() ? kFailedChecks : kGood;
}

int run_kit(const std::vector<std::string>& arguments) {
  const auto options = parse_options(std::span(arguments).subspan(1));
  if (!options.ok()) return fail(options.status());
  if (!options->run_check.empty()) {
    platform::end_with_parent();
    return run_as_child(*options);
  }
  if (options->help) return write(stdout, help_text()) ? kGood : kNothingChecked;
  if (options->version) return write(stdout, "latebind-conformance " LATEBIND_VERSION "\n") ? kGood : kNothingChecked;
  if (options->list) {
    std::string text;
    for (const Check& check : all_checks())
      text += fmt::format("{:<28} {}\n", check.name, check.what);
    return write(stdout, text) ? kGood : kNothingChecked;
  }
  const auto report = check_subject(*options, [](const CheckResult& result) {
    if (platform::error_stream_is_terminal())
      platform::write_to_error_stream(fmt::format("{} {}\n", word_of(result.verdict), result.name));
  });
  return report.ok() ? deliver(*options, *report) : fail(report.status());
}

}  // namespace
}  // namespace latebind::kit

int main(int argc, char** argv) {
  latebind::platform::prepare_program();
  return latebind::platform::call_with_room(
      [&] { return latebind::kit::run_kit(latebind::platform::program_arguments(argc, argv)); });
}

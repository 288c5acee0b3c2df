#include "core/vendor/vendor_loader.h"

#include <fmt/format.h>

#include "core/log.h"
#include "core/text/one_line.h"

namespace latebind::core {
namespace {

std::string describe(const std::vector<SearchStep>& steps) {
  std::string text;
  for (const SearchStep& step : steps) {
    text += one_line(fmt::format("{} ({}): {}", step.place, step.source, step.outcome)) + "\n";
  }
  return text;
}

}  // namespace

Status open_first(const VendorLibrary& wanted, System system, const SearchList& list, const OpenVendorFile& open,
                  std::vector<SearchStep>& trace) {
  trace.clear();
  std::string failure;   // of the first file that exists
  std::string left_out;  // the first one
  for (const SearchCandidate& candidate : list.candidates) {
    trace.push_back({candidate.place, candidate.source, candidate.why_not, false});
    if (candidate.left_out && left_out.empty()) left_out = fmt::format("{} is {}", candidate.place, candidate.why_not);
    if (!candidate.why_not.empty()) continue;
    auto version = open(candidate.place);
    if (version.ok()) {
      trace.back().outcome = "opened, version " + *version;
      trace.back().opened = true;
      log(LogLevel::kDebug, fmt::format("opened {} {} from {}", wanted.product, *version, candidate.place));
      return {};
    }
    trace.back().outcome = version.status().to_string();
    if (failure.empty()) failure = fmt::format("{}: {}", candidate.place, version.status().brief());
  }

  const StatusCode code = !failure.empty() ? StatusCode::kLibraryUnusable : StatusCode::kLibraryNotFound;
  // The places that were searched, and how to name the library.
  std::string details =
      describe(trace) + fmt::format("set {} to the full path of {} or of its folder", wanted.library_variables.front(),
                                    library_name(wanted.stem, system));
  if (!list.chosen_by.empty()) {
    if (failure.empty() && !trace.empty()) failure = fmt::format("{}: {}", trace.front().place, trace.front().outcome);
    return Status(code,
                  fmt::format(
                      "cannot open {} at the path set by {} ({}): correct or clear that setting, or install it ({})",
                      wanted.product, list.chosen_by, failure, wanted.install_command))
        .with_details(std::move(details));
  }
  if (failure.empty()) failure = left_out;
  return Status(code, fmt::format("{}: install it ({}){}{}",
                                  failure.empty() ? fmt::format("{} was not found", wanted.product)
                                                  : fmt::format("found {}, but cannot use it", wanted.product),
                                  wanted.install_command, failure.empty() ? "" : "; ", failure))
      .with_details(std::move(details));
}

}  // namespace latebind::core

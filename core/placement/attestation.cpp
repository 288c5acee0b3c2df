#include "core/placement/attestation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/text/pieces.h"

namespace latebind::core {
namespace {

std::string joined(const std::vector<PlacementStep>& steps, std::string PlacementStep::*why) {
  std::string text;
  for (const PlacementStep& step : steps)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", step.device, step.*why);
  return text;
}

}  // namespace

std::string listed(const std::vector<PlacementStep>& steps) {
  return joined(steps, &PlacementStep::reason);
}

std::string details_of(const std::vector<PlacementStep>& steps) {
  std::string text;
  for (const PlacementStep& step : steps) {
    std::string_view rest = step.details;
    while (!rest.empty())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "\n", step.device, take_until(rest, '\n'));
  }
  return text;
}

std::string listed_briefly(const std::vector<PlacementStep>& steps) {
  return joined(steps, &PlacementStep::brief);
}

void Attestation::conclude(const std::string& taken, std::string passed_over) {
  fallback = !steps.empty();
  if (fallback) reason = fmt::format("using {}, because {}", taken, listed_briefly(steps));
  steps.push_back(PlacementStep::taken_by(taken));
  steps.back().reason = std::move(passed_over);
}

}  // namespace latebind::core

#include "core/attestation.h"

#include <fmt/format.h>

#include <utility>

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

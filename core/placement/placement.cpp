#include "core/placement/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/placement/placement_words.h"
#include "core/text/pieces.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

// A placement is a line that a person writes.
constexpr std::size_t kTextLengthMax = 1024;
constexpr std::size_t kDeviceNameLengthMax = 128;

std::string_view trimmed(std::string_view text) {
  return core::trimmed(text, " \t");
}

// What other programs call a GPU.
bool is_gpu_elsewhere(std::string_view word) {
  return std::ranges::find(kGpuElsewhere, word) != kGpuElsewhere.end();
}

}  // namespace

Result<Placement> Placement::parse(std::string_view text, const Registry& registry) {
  if (text.size() > kTextLengthMax) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("a placement of {} characters; at most {} are allowed", text.size(), kTextLengthMax));
  }
  std::vector<std::string_view> known(kPlacementWords.begin(), kPlacementWords.end());
  std::vector<std::string_view> backends;
  for (const auto& backend : registry.all())
    backends.push_back(backend->name());
  known.insert(known.end(), backends.begin(), backends.end());

  Placement placement;
  placement.text_ = std::string(trimmed(text));
  std::string_view rest = placement.text_;
  do {
    const auto comma = rest.find(',');
    const std::string_view word = trimmed(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const bool last = comma == std::string_view::npos;

    Term term;
    if (const auto colon = word.find(':'); colon != std::string_view::npos) {
      term.backend = std::string(word.substr(0, colon));
      term.device = std::string(word.substr(colon + 1));
      if (term.backend == "gpu" || term.backend == "npu" || term.backend == "cpu" || is_gpu_elsewhere(term.backend)) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("{} is not the name of one device, which is BACKEND:DEVICE; `latebind devices` lists "
                                  "them",
                                  quoted(word, kDeviceNameLengthMax)));
      }
      if (!registry.find(term.backend)) {
        return unknown_word_error("backend", term.backend, backends);
      }
      if (term.device.empty() || term.device.size() > kDeviceNameLengthMax) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("{} has no device after the colon; `latebind devices` lists devices",
                                  quoted(word, kDeviceNameLengthMax)));
      }
    } else if (word == "npu" || word == "gpu" || word == "cpu") {
      term.any_kind = false;
      LB_ASSIGN_OR_RETURN(term.kind, parse_word<DeviceKind>(word));
    } else if (registry.find(word)) {
      term.backend = std::string(word);
    } else if (word != "auto" && is_gpu_elsewhere(word)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("unknown device {} (did you mean gpu?); known: {}", quoted(word, kDeviceNameLengthMax),
                                fmt::join(known, ", ")));
    } else if (word != "auto") {
      return unknown_word_error("device", word, known);
    }
    placement.terms_.push_back(std::move(term));
    if (last) break;
  } while (true);
  return placement;
}

std::vector<Placement::Candidate> Placement::resolve(const Registry& registry, bool emulate,
                                                     const Preference& prefers) const {
  return *resolve(registry, emulate, {}, prefers);
}

}  // namespace latebind::core

#include "core/placement/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/backend/questions.h"
#include "core/placement/placement_words.h"
#include "core/text/pieces.h"
#include "core/text/quote.h"
#include "core/vendor/vendor_call.h"

namespace latebind::core {
namespace {

// A placement is a line that a person writes.
constexpr std::size_t kTextLengthMax = 1024;
constexpr std::size_t kDeviceNameLengthMax = 128;

// Best first, in the order of `auto`.
constexpr std::array kKindOrder{DeviceKind::kNpu, DeviceKind::kGpu, DeviceKind::kCpu};

std::string_view trimmed(std::string_view text) {
  return core::trimmed(text, " \t");
}

std::size_t rank_of(DeviceKind kind) {
  return static_cast<std::size_t>(std::ranges::find(kKindOrder, kind) - kKindOrder.begin());
}

// Returns the virtual device of this name, or why it cannot run; std::nullopt if no virtual device has this name.
std::optional<Placement::Candidate> virtual_candidate(const std::vector<Device>& devices, std::string_view name,
                                                      bool emulate) {
  const auto found = std::ranges::find(devices, name, &Device::name);
  if (found == devices.end()) return std::nullopt;
  const VirtualTraits traits = found->traits.virtual_device.value_or(VirtualTraits());
  std::string why;
  if (traits.is_emulated) {
    if (emulate) return Placement::Candidate{*found, {}};
    why = "is not in this machine; --emulate runs it in its vendor's emulator";
  } else if (!traits.missing.empty()) {
    why = fmt::format("is not in this machine, and its compiler is not installed: {}", traits.missing);
  } else {
    why = "is not in this machine, and its vendor has no emulator for this machine";
  }
  return Placement::Candidate{std::nullopt,
                              PlacementStep::refused(found->id(), Status(StatusCode::kDeviceNotFound, why))};
}

// Returns the error of a backend whose library is missing, for a device that was named. Uses the instructions for that
// device if there are any.
Status absence_of(const Status& backend, const std::string& why_not) {
  if (why_not.empty()) return backend;
  return Status(backend.code(), why_not).with_details(std::string(backend.details()));
}

// What one backend offers.
struct Offer {
  Status status;
  std::vector<Device> devices;
  // The library is missing, and nobody expects it.
  bool is_absent = false;
  std::optional<Device> withheld;  // by a setting
};

Result<Offer> offer_of(Backend& backend) {
  Offer offer;
  offer.status = backend.available();
  if (!offer.status.ok()) {
    auto diagnosis = backend.diagnosis(nullptr);
    offer.is_absent = offer.status.code() == StatusCode::kLibraryNotFound && !diagnosis.library_is_expected;
    offer.withheld = std::move(diagnosis.withheld_by_setting);
    return offer;
  }
  auto devices = backend.devices();
  if (devices.ok()) {
    offer.devices = *std::move(devices);
  } else {
    offer.status = devices.status();
  }
  return offer;
}

// What a backend knows about devices that it does not offer.
struct Others {
  std::vector<Device> virtual_devices;
  std::string why_not;  // for the device that was named
};

Result<Others> others_of(Backend& backend, std::string_view device) {
  Others others;
  if (auto devices = virtual_devices_of(backend); devices.ok()) others.virtual_devices = *std::move(devices);
  others.why_not = why_not(backend, device);
  return others;
}

// Returns the backend's answer, or why there was none within the limits.
template <class Answer>
Result<Answer> ask(const std::shared_ptr<Backend>& backend, const std::function<Result<Answer>(Backend&)>& question,
                   const RunOptions& limits) {
  if (!limits.is_bounded()) return question(*backend);
  const std::string name(backend->name());
  LB_RETURN_IF_ERROR(check_not_hung(name, "question"));
  const auto answer = std::make_shared<std::optional<Answer>>();
  const Status status = call_until(limits, name, [backend, question, answer]() -> Status {
    LB_ASSIGN_OR_RETURN(answer->emplace(), question(*backend));
    return {};
  });
  // Without a time limit, no extra thread is needed.
  if (status.code() == StatusCode::kBusy && !limits.deadline && !limits.cancellation.can_be_requested()) {
    return question(*backend);
  }
  if (!status.ok()) return status.with_context("asking for its devices");
  return *std::move(*answer);
}

// Returns "openvino:NPU, openvino:CPU".
std::string ids_of(const std::vector<Device>& devices) {
  std::string ids;
  for (const Device& device : devices)
    ids += (ids.empty() ? "" : ", ") + device.id();
  return ids;
}

// What other programs call a GPU.
bool is_gpu_elsewhere(std::string_view word) {
  return word == "cuda" || word == "rocm" || word == "xpu" || word == "mps";
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

// Resolves each term separately and concatenates the results, without duplicates. Within a term:
//   1. The devices that it means are sorted by (kind, preferred or not); the sort is stable, so registry order decides
//      the rest. Each device keeps the rank of its backend.
//   2. The refusal of a backend that is not available is inserted before the first device of a later backend. The
//      invariant: everything after a refusal is a fallback from it, and nothing before it is. Hence the refusal of a
//      library that nobody expects goes after devices that need no library, and a device that is not a fallback (it is
//      preferred to one of an earlier backend) stays before the refusal.
//   3. A term without any device gives one refusal that says why.
Result<std::vector<Placement::Candidate>> Placement::resolve(const Registry& registry, bool emulate,
                                                             const RunOptions& limits,
                                                             const Preference& prefers) const {
  // Each backend is asked once, and only if a term concerns it.
  std::map<std::string, Offer, std::less<>> offers;
  for (const auto& backend : registry.all()) {
    const auto concerns = [&](const Term& term) { return term.backend.empty() || term.backend == backend->name(); };
    if (std::ranges::none_of(terms_, concerns)) continue;
    auto asked = ask<Offer>(backend, offer_of, limits);
    if (limits.is_bounded() && is_of_the_call(asked.status())) return asked.status();
    offers.emplace(std::string(backend->name()), asked.ok() ? *std::move(asked) : Offer{asked.status(), {}, false, {}});
  }

  std::vector<Candidate> candidates;
  const auto add = [&](Candidate candidate) {
    const auto name_of_candidate = [](const Candidate& c) { return c.device ? c.device->id() : c.refusal.device; };
    const std::string name = name_of_candidate(candidate);
    const bool known =
        std::ranges::any_of(candidates, [&](const Candidate& other) { return name_of_candidate(other) == name; });
    if (!known) candidates.push_back(std::move(candidate));
  };

  for (const Term& term : terms_) {
    struct Found {
      std::size_t kind_rank;
      bool is_second;            // not one of the preferred devices
      std::size_t backend_rank;  // place in the registry
      bool is_absent;            // a refusal that should not be reported first
      Candidate candidate;
    };
    std::vector<Found> devices;
    std::vector<Found> refusals;
    std::size_t backend_rank = 0;
    const auto is_meant = [&](const Device& device) {
      if (device.is_virtual()) return false;
      if (!term.device.empty() && term.device != device.name) return false;
      if (!term.any_kind && term.kind != device.kind) return false;
      // `auto` takes only kinds that have a rank; others must be named.
      return !term.backend.empty() || rank_of(device.kind) != kKindOrder.size();
    };
    for (const auto& backend : registry.all()) {
      ++backend_rank;
      if (!term.backend.empty() && term.backend != backend->name()) continue;
      const Offer& offer = offers.find(backend->name())->second;
      if (!offer.status.ok()) {
        std::string why_not;
        if (offer.is_absent && !term.device.empty()) {
          const auto of_this = [device = term.device](Backend& one) -> Result<std::string> {
            return core::why_not(one, device);
          };
          auto asked = ask<std::string>(backend, of_this, limits);
          if (asked.ok()) why_not = *std::move(asked);
        }
        const Status why = absence_of(offer.status, why_not);
        Candidate refusal{std::nullopt, PlacementStep::refused(std::string(backend->name()), why)};
        if (offer.withheld && is_meant(*offer.withheld)) {
          devices.push_back(
              {rank_of(offer.withheld->kind), !prefers(*offer.withheld), backend_rank, false, std::move(refusal)});
        } else {
          refusals.push_back({0, false, backend_rank, offer.is_absent, std::move(refusal)});
        }
        continue;
      }
      for (const Device& device : offer.devices) {
        if (is_meant(device))
          devices.push_back({rank_of(device.kind), !prefers(device), backend_rank, false, {device, {}}});
      }
    }
    const bool any_device =
        std::ranges::any_of(devices, [](const Found& one) { return one.candidate.device.has_value(); });
    std::ranges::stable_sort(devices, {}, [](const Found& one) { return std::pair(one.kind_rank, one.is_second); });
    // A refusal goes before the first device of a later backend, because that device is a second choice. It does not go
    // before a device that is preferred to one of an earlier backend: without it, that earlier backend would have
    // answered before the one that refuses.
    for (Found& refusal : refusals) {
      const auto later = std::ranges::find_if(devices, [&](const Found& one) {
        if (one.backend_rank <= refusal.backend_rank) return false;
        const bool needs_none = one.candidate.device && one.candidate.device->traits.graphs_only;
        if (refusal.is_absent && needs_none) return false;
        return one.is_second || std::ranges::none_of(devices, [&](const Found& other) {
                 return other.candidate.device && other.kind_rank == one.kind_rank &&
                        other.backend_rank < refusal.backend_rank;
               });
      });
      devices.insert(later, std::move(refusal));
    }
    for (Found& one : devices)
      add(std::move(one.candidate));
    if (any_device) continue;

    if (!term.device.empty()) {
      const Offer& offer = offers.find(term.backend)->second;
      if (!offer.status.ok()) continue;  // the backend's reason is in the list already
      // Owns what it uses, because it may run on a thread that outlives this call.
      const auto of_this = [device = term.device](Backend& backend) { return others_of(backend, device); };
      const auto asked = ask<Others>(registry.find(term.backend), of_this, limits);
      if (limits.is_bounded() && is_of_the_call(asked.status())) return asked.status();
      const Others others = asked.ok() ? *asked : Others();
      if (auto candidate = virtual_candidate(others.virtual_devices, term.device, emulate)) {
        add(*std::move(candidate));
        continue;
      }
      std::string why = others.why_not;
      if (why.empty()) {
        why = fmt::format("no such device here; {} has {}", term.backend,
                          offer.devices.empty() ? "none" : ids_of(offer.devices));
        if (!others.virtual_devices.empty())
          why += fmt::format("; virtual devices, to compile for, are {}", ids_of(others.virtual_devices));
      }
      add({std::nullopt, PlacementStep::refused(term.backend + ":" + term.device,
                                                Status(StatusCode::kDeviceNotFound, std::move(why)))});
    } else if (!term.any_kind) {
      const Status why(StatusCode::kDeviceNotFound, "no available backend has a device of this kind");
      add({std::nullopt, PlacementStep::refused(std::string(word_of(term.kind)), why)});
    }
  }
  return candidates;
}

}  // namespace latebind::core

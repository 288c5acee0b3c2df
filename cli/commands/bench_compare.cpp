// latebind bench embed --compare: the devices of a placement beside each other, in turn, so that whatever else the
// machine does hits all of them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/json_text.h"
#include "cli/commands/bench.h"
#include "cli/data/percentile.h"
#include "cli/terminal/byte_sink.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

using core::PerformanceHint;
using core::Result;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRoundsMin = 5;
// Below this many times the rate of one that stands before it, a device is not worth a setting.
constexpr double kWorthIt = 1.03;

// Threads of some runtimes look for more work for a while, at the cost of whoever is next.
constexpr std::chrono::milliseconds kRest{200};

// A model that is loaded on one device, with what it needs to stay so.
struct Loaded {
  app::Runtime runtime;
  std::unique_ptr<embedding::Embedder> embedder;
};

Result<Loaded> load(const BenchArguments& options, const std::string& device, PerformanceHint hint) {
  LB_ASSIGN_OR_RETURN(app::Runtime runtime, runtime_without_cache(options, hint));
  LB_ASSIGN_OR_RETURN(runtime.placement, core::Placement::parse(device, runtime.registry));
  Loaded loaded{std::move(runtime), nullptr};
  LB_ASSIGN_OR_RETURN(loaded.embedder, open_embedder(options.embedder, loaded.runtime, Telling::kNothing));
  return loaded;
}

struct Contender {
  std::string device;
  Loaded for_many;
  Loaded for_single;
  double load_ms = 0;
  std::vector<double> texts_per_s{};  // by round
  std::vector<double> single_ms{};

  [[nodiscard]] double rate() const { return percentile(texts_per_s, 0.5); }
  [[nodiscard]] double single() const { return percentile(single_ms, 0.5); }
  [[nodiscard]] core::ActiveConfig active() const { return for_many.embedder->attestation()->active; }
};

Result<Contender> make_contender(const BenchArguments& options, const std::string& device) {
  const auto start = Clock::now();
  LB_ASSIGN_OR_RETURN(Loaded for_many, load(options, device, PerformanceHint::kThroughput));
  const double load_ms = seconds_since(start) * 1000;
  LB_ASSIGN_OR_RETURN(Loaded for_single, load(options, device, PerformanceHint::kLatency));
  return Contender{device, std::move(for_many), std::move(for_single), load_ms};
}

core::Status measure(const BenchArguments& options, std::span<const std::string_view> texts,
                     std::vector<Contender>& contenders) {
  std::vector<float> vectors(texts.size() * contenders.front().for_many.embedder->dimension());
  // The first round warms up.
  const std::size_t rounds = std::max(options.repeat, kRoundsMin);
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (Contender& one : contenders) {
      std::this_thread::sleep_for(kRest);
      const auto start = Clock::now();
      LB_RETURN_IF_ERROR(one.for_many.embedder->embed(texts, vectors).status());
      if (round > 0) one.texts_per_s.push_back(static_cast<double>(texts.size()) / seconds_since(start));
    }
  }
  const auto singles = single_texts(texts, options.singles);
  for (Contender& one : contenders) {
    if (!singles.empty()) std::this_thread::sleep_for(kRest);
    for (const std::string_view text : singles) {
      LB_ASSIGN_OR_RETURN(const double seconds, time_single(*one.for_single.embedder, text, vectors));
      one.single_ms.push_back(seconds * 1000);
    }
  }
  return {};
}

// The first one that none after it beats by enough.
template <class Better>
const Contender& best(const std::vector<Contender>& contenders, const Better& better) {
  const Contender* found = &contenders.front();
  for (const Contender& one : contenders) {
    if (better(one, *found)) found = &one;
  }
  return *found;
}

}  // namespace

Exit bench_compare(const BenchArguments& options, std::span<const std::string_view> texts) {
  const auto runtime = runtime_without_cache(options, PerformanceHint::kThroughput);
  if (!runtime.ok()) return fail(runtime.status());
  const auto prefers = core::Placement::in(runtime->load.compile.precision);
  std::vector<Contender> contenders;
  std::vector<core::PlacementStep> left_out;
  for (const auto& candidate : runtime->placement.resolve(runtime->registry, runtime->settings.emulate, prefers)) {
    if (!candidate.device) {
      left_out.push_back(candidate.refusal);
      continue;
    }
    auto made = make_contender(options, candidate.device->id());
    if (made.ok()) {
      contenders.push_back(*std::move(made));
    } else {
      left_out.push_back(core::PlacementStep::refused(candidate.device->id(), made.status()));
    }
  }
  if (contenders.empty()) {
    return fail(
        {core::StatusCode::kNoDevice, fmt::format("there is nothing to compare: {}", core::listed_briefly(left_out))});
  }
  if (const auto status = measure(options, texts, contenders); !status.ok()) return fail(status);

  const Contender& for_many =
      best(contenders, [](const Contender& a, const Contender& b) { return a.rate() > kWorthIt * b.rate(); });
  const Contender& for_single =
      best(contenders, [](const Contender& a, const Contender& b) { return a.single() * kWorthIt < b.single(); });
  const bool has_singles = !for_single.single_ms.empty();
  if (options.json) {
    app::Json json{{"devices", app::Json::array()}, {"left_out", app::Json::array()}};
    for (const Contender& one : contenders) {
      json["devices"].push_back({{"device", one.device},
                                 {"precision", core::word_of(one.active().precision)},
                                 {"texts_per_s",
                                  {{"least", app::rounded(std::ranges::min(one.texts_per_s), 1)},
                                   {"median", app::rounded(one.rate(), 1)},
                                   {"most", app::rounded(std::ranges::max(one.texts_per_s), 1)}}},
                                 {"p50_ms", app::rounded(one.single(), 3)},
                                 {"load_ms", app::rounded(one.load_ms, 1)}});
    }
    for (const auto& step : left_out)
      json["left_out"].push_back({{"device", step.device}, {"reason", step.reason}});
    json["for_many"] = for_many.device;
    json["for_single"] = has_singles ? app::Json(for_single.device) : app::Json();
    const auto printed = print(app::to_text(json));
    return printed.ok() ? Exit::kGood : fail(printed);
  }
  std::string text = fmt::format("{:<18} {:<9} {:>28} {:>6} {:>14} {:>8}\n", "device", "precision",
                                 "texts/s: least, median, most", "ratio", "single p50, ms", "load, ms");
  for (const Contender& one : contenders) {
    text += fmt::format("{:<18} {:<9} {:>10.1f} {:>8.1f} {:>8.1f} {:>6.2f} {:>14.2f} {:>8.0f}\n", one.device,
                        core::word_of(one.active().precision), std::ranges::min(one.texts_per_s), one.rate(),
                        std::ranges::max(one.texts_per_s), one.rate() / contenders.front().rate(), one.single(),
                        one.load_ms);
  }
  for (const auto& step : left_out)
    text += fmt::format("left out: {}: {}\n", step.device, core::one_line(step.brief));
  text += fmt::format("for many texts --device {}", for_many.device);
  if (has_singles) text += fmt::format(", for single ones --device {}", for_single.device);
  text += fmt::format(" (below {:.2f} times the rate of one above it, a device is not chosen)\n", kWorthIt);
  const auto printed = print(text);
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace latebind::cli

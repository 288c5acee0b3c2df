// latebind bench embed --compare, and with several precisions: measures devices and precisions in alternation, so that
// other load on the machine affects all of them.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "app/json_text.h"
#include "cli/commands/bench.h"
#include "cli/data/percentile.h"
#include "cli/terminal/byte_sink.h"
#include "core/tensor/comparison.h"
#include "core/tensor/tensor.h"
#include "core/text/one_line.h"

namespace latebind::cli {
namespace {

using core::PerformanceHint;
using core::Result;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRoundsMin = 5;
// The least speed-up over an earlier choice that justifies another setting.
constexpr double kWorthIt = 1.03;

// Threads of some runtimes spin for a while, which would slow down the next measurement.
constexpr std::chrono::milliseconds kRest{200};

// A model loaded on one device, with everything that it depends on.
struct Loaded {
  app::Runtime runtime;
  std::unique_ptr<embedding::Embedder> embedder;
};

// What is measured: a device, or with "" the first of the placement that loads the model, in one precision.
struct Choice {
  std::string device;
  core::Precision precision = core::Precision::kF32;
};

Result<Loaded> load(const BenchArguments& options, const Choice& choice, PerformanceHint hint) {
  LB_ASSIGN_OR_RETURN(app::Runtime runtime, runtime_without_cache(options, hint));
  if (!choice.device.empty()) {
    LB_ASSIGN_OR_RETURN(runtime.placement, core::Placement::parse(choice.device, runtime.registry));
  }
  runtime.set_precisions({choice.precision});
  Loaded loaded{std::move(runtime), nullptr};
  LB_ASSIGN_OR_RETURN(loaded.embedder, open_network(options.embedder, loaded.runtime, "dense", FallbackNote::kOmit));
  return loaded;
}

struct Contender {
  std::string device;
  std::string precision;
  Loaded for_many;
  Loaded for_single;
  double load_ms = 0;
  std::vector<double> texts_per_s{};  // by round
  std::vector<double> single_ms{};
  double cosine_least = 1;  // to the vectors of the first contender

  [[nodiscard]] double rate() const { return percentile(texts_per_s, 0.5); }
  [[nodiscard]] double single() const { return percentile(single_ms, 0.5); }
  // "--device native:CPU --precision bf16"
  [[nodiscard]] std::string flags() const { return fmt::format("--device {} --precision {}", device, precision); }
};

Result<Contender> make_contender(const BenchArguments& options, Choice choice) {
  const auto start = Clock::now();
  LB_ASSIGN_OR_RETURN(Loaded for_many, load(options, choice, PerformanceHint::kThroughput));
  const double load_ms = seconds_since(start) * 1000;
  const core::ActiveConfig active = for_many.embedder->attestation()->active;
  choice.device = active.id();
  LB_ASSIGN_OR_RETURN(Loaded for_single, load(options, choice, PerformanceHint::kLatency));
  return Contender{choice.device, std::string(core::word_of(active.precision)), std::move(for_many),
                   std::move(for_single), load_ms};
}

double least_cosine(std::vector<float>& vectors, std::vector<float>& of_first, std::size_t dimension) {
  const core::Shape shape{static_cast<std::int64_t>(vectors.size() / dimension), static_cast<std::int64_t>(dimension)};
  const auto view = [&shape](std::vector<float>& all) {
    return core::TensorView{.data = all.data(), .type = core::ElementType::kF32, .shape = shape, .strides = {}};
  };
  return core::difference(view(vectors), view(of_first)).cosine;
}

core::Status measure(const BenchArguments& options, std::span<const std::string_view> texts,
                     std::vector<Contender>& contenders) {
  const std::size_t dimension = contenders.front().for_many.embedder->dimension();
  std::vector<float> vectors(texts.size() * dimension);
  std::vector<float> of_first;
  // The first round warms up.
  const std::size_t rounds = std::max(options.repeat, kRoundsMin);
  for (std::size_t round = 0; round <= rounds; ++round) {
    for (Contender& one : contenders) {
      std::this_thread::sleep_for(kRest);
      const auto start = Clock::now();
      LB_RETURN_IF_ERROR(one.for_many.embedder->embed(texts, vectors).status());
      if (round == 0 && of_first.empty()) of_first = vectors;
      if (round == 0) one.cosine_least = least_cosine(vectors, of_first, dimension);
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

// Returns the first contender that no later one beats by enough.
template <class Better>
const Contender& best(const std::vector<Contender>& contenders, const Better& better) {
  const Contender* found = &contenders.front();
  for (const Contender& one : contenders) {
    if (better(one, *found)) found = &one;
  }
  return *found;
}

std::vector<Choice> choices_of(const BenchArguments& options, const app::Runtime& runtime,
                               std::vector<core::PlacementStep>& left_out) {
  const auto& precisions = runtime.settings.precisions;
  std::vector<Choice> choices;
  if (!options.compare) {
    for (const core::Precision precision : precisions)
      choices.push_back({{}, precision});
    return choices;
  }
  const auto prefers = core::Placement::in(runtime.load.compile.precision);
  for (const auto& candidate : runtime.placement.resolve(runtime.registry, runtime.settings.emulate, prefers)) {
    if (!candidate.device) {
      left_out.push_back(candidate.refusal);
      continue;
    }
    for (const core::Precision precision : precisions)
      choices.push_back({candidate.device->id(), precision});
  }
  return choices;
}

app::Json to_json(const std::vector<Contender>& contenders, const std::vector<core::PlacementStep>& left_out,
                  const Contender& for_many, const Contender* for_single) {
  app::Json json{{"devices", app::Json::array()}, {"left_out", app::Json::array()}};
  for (const Contender& one : contenders) {
    json["devices"].push_back({{"device", one.device},
                               {"precision", one.precision},
                               {"texts_per_s",
                                {{"least", app::rounded(std::ranges::min(one.texts_per_s), 1)},
                                 {"median", app::rounded(one.rate(), 1)},
                                 {"most", app::rounded(std::ranges::max(one.texts_per_s), 1)}}},
                               {"p50_ms", app::rounded(one.single(), 3)},
                               {"load_ms", app::rounded(one.load_ms, 1)},
                               {"cosine_least", app::rounded(one.cosine_least, 6)}});
  }
  for (const auto& step : left_out)
    json["left_out"].push_back({{"device", step.device}, {"reason", step.reason}});
  const auto named = [](const Contender& one) {
    return app::Json{{"device", one.device}, {"precision", one.precision}};
  };
  json["for_many"] = named(for_many);
  json["for_single"] = for_single != nullptr ? named(*for_single) : app::Json();
  return json;
}

std::string for_people(const std::vector<Contender>& contenders, const std::vector<core::PlacementStep>& left_out,
                       const Contender& for_many, const Contender* for_single) {
  std::string text = fmt::format("{:<18} {:<9} {:>28} {:>6} {:>14} {:>8} {:>9}\n", "device", "precision",
                                 "texts/s: least, median, most", "ratio", "single p50, ms", "load, ms", "cosine");
  for (const Contender& one : contenders) {
    text += fmt::format("{:<18} {:<9} {:>10.1f} {:>8.1f} {:>8.1f} {:>6.2f} {:>14.2f} {:>8.0f} {:>9.6f}\n", one.device,
                        one.precision, std::ranges::min(one.texts_per_s), one.rate(), std::ranges::max(one.texts_per_s),
                        one.rate() / contenders.front().rate(), one.single(), one.load_ms, one.cosine_least);
  }
  for (const auto& step : left_out)
    text += fmt::format("left out: {}: {}\n", step.device, core::one_line(step.brief));
  text += fmt::format("for many texts {}", for_many.flags());
  if (for_single != nullptr) text += fmt::format(", for single texts {}", for_single->flags());
  text += fmt::format(
      " (a rate below {:.2f} times that of an earlier one is not chosen); ratio and least cosine are relative to the "
      "first one\n",
      kWorthIt);
  return text;
}

}  // namespace

Exit bench_compare(const BenchArguments& options, std::span<const std::string_view> texts) {
  const auto runtime = runtime_without_cache(options, PerformanceHint::kThroughput);
  if (!runtime.ok()) return fail(runtime.status());
  std::vector<Contender> contenders;
  std::vector<core::PlacementStep> left_out;
  for (const Choice& choice : choices_of(options, *runtime, left_out)) {
    auto made = make_contender(options, choice);
    if (made.ok()) {
      contenders.push_back(*std::move(made));
      continue;
    }
    const std::string name = choice.device.empty() ? runtime->placement.text() : choice.device;
    left_out.push_back(
        core::PlacementStep::refused(fmt::format("{} in {}", name, core::word_of(choice.precision)), made.status()));
  }
  if (contenders.empty()) {
    return fail(
        {core::StatusCode::kNoDevice, fmt::format("there is nothing to compare: {}", core::listed_briefly(left_out))});
  }
  if (const auto status = measure(options, texts, contenders); !status.ok()) return fail(status);

  const Contender& for_many =
      best(contenders, [](const Contender& a, const Contender& b) { return a.rate() > kWorthIt * b.rate(); });
  const Contender& fastest_single =
      best(contenders, [](const Contender& a, const Contender& b) { return a.single() * kWorthIt < b.single(); });
  const Contender* const for_single = fastest_single.single_ms.empty() ? nullptr : &fastest_single;
  const auto printed = print(options.json ? app::to_text(to_json(contenders, left_out, for_many, for_single))
                                          : for_people(contenders, left_out, for_many, for_single));
  return printed.ok() ? Exit::kGood : fail(printed);
}

}  // namespace latebind::cli

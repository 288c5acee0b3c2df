// latebind warm: compiles everything that the configuration needs, so that later starts find it.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/byte_sink.h"
#include "cli/embedder_options.h"
#include "cli/json_text.h"
#include "cli/parser.h"

namespace latebind::cli {
namespace {

struct WarmArguments {
  EmbedderOptions embedder{};
  bool json = false;
};

struct Outcome {
  std::string device;
  core::Status status;
  double seconds = 0;
  std::string described;  // when it went well
};

// On this device alone: another one that stands in would compile nothing for it. It is ready when a second opening
// finds it in the cache, as a later start will.
Outcome warm_one(const WarmArguments& options, const Runtime& configured, const std::string& device) {
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome;
  outcome.device = device;
  const auto prepared = [&]() -> core::Result<std::string> {
    Runtime runtime = configured;
    LB_ASSIGN_OR_RETURN(runtime.placement, core::Placement::parse(device, runtime.registry));
    runtime.load.strict = true;
    runtime.load.buckets.preload = false;
    const auto open = [&] { return open_embedder(options.embedder, runtime, Telling::kNothing); };
    {
      LB_ASSIGN_OR_RETURN(const auto compiled, open());
      LB_RETURN_IF_ERROR(compiled->prepare());
    }
    runtime.load.cache->settle();
    LB_ASSIGN_OR_RETURN(const auto embedder, open());
    const core::ActiveConfig active = embedder->attestation()->active;
    if (!active.from_cache) {
      return core::Status(core::StatusCode::kIo, "it was compiled but not kept; `latebind -v warm` says why");
    }
    return describe(active);
  }();
  outcome.status = prepared.status();
  if (prepared.ok()) outcome.described = *prepared;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

std::string for_people(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& outcome : outcomes) {
    text += outcome.status.ok() ? fmt::format("ready in {:.1f} s: {}\n", outcome.seconds, one_line(outcome.described))
                                : fmt::format("not ready: {}: {}\n", outcome.device, one_line(outcome.status.brief()));
  }
  return text;
}

std::string for_programs(const std::vector<Outcome>& outcomes) {
  Json json;
  json["devices"] = Json::array();
  for (const Outcome& outcome : outcomes) {
    Json one;
    one["device"] = outcome.device;
    one["ready"] = outcome.status.ok();
    one["seconds"] = rounded(outcome.seconds, 3);
    one["reason"] = reason_of(outcome.status);
    json["devices"].push_back(std::move(one));
  }
  return to_text(json);
}

Exit warm(WarmArguments options) {
  // As `latebind embed` loads it: what is compiled depends on it.
  const auto runtime = Runtime::make(options.embedder.runtime, core::PerformanceHint::kThroughput);
  if (!runtime.ok()) return misuse("warm", runtime.status().message());
  if (!runtime->settings.cache) {
    return misuse("warm", "the cache is off (cache.enabled), so that nothing that is compiled would be kept");
  }
  if (!runtime->load.cache) {
    return fail(core::Status(core::StatusCode::kNotFound,
                             "there is no folder for the cache of compiled models: name one with --cache-folder"));
  }
  if (const auto trusted = runtime->load.cache->store()->check_folder(); !trusted.ok()) return fail(trusted);
  if (const auto found = options.embedder.find_model(); !found.ok()) return fail(found);
  std::vector<Outcome> outcomes;
  std::vector<core::PlacementStep> refusals;
  for (const auto& candidate : runtime->placement.resolve(runtime->registry, runtime->settings.emulate)) {
    if (!candidate.device) {
      refusals.push_back(candidate.refusal);
      if (runtime->load.strict) break;
      continue;
    }
    if (runtime->load.strict && !outcomes.empty()) break;
    outcomes.push_back(warm_one(options, *runtime, candidate.device->id()));
  }
  if (outcomes.empty()) {
    return fail(core::Status(core::StatusCode::kNoDevice, fmt::format("no device of '{}' is there: {}",
                                                                      runtime->placement.text(), listed(refusals))));
  }
  const auto printed = print(options.json ? for_programs(outcomes) : for_people(outcomes));
  if (!printed.ok()) return fail(printed);
  for (const Outcome& outcome : outcomes) {
    if (outcome.status.ok()) return Exit::kGood;
  }
  return fail(outcomes.front().status);
}

}  // namespace

void add_warm(CLI::App& program, Action& chosen) {
  auto options = std::make_shared<WarmArguments>();
  CLI::App& app =
      *program.add_subcommand("warm", "Compiles a model for every device of the placement, and keeps the result.");
  options->embedder.add_to(app);
  app.add_flag("--json", options->json, "Prints {devices: [{device, ready, seconds, reason}]}.");
  app.footer(
      "For the step after an installation: later starts find everything in the cache of compiled models,\n"
      "every fixed length included. What is compiled depends on the settings: give the same ones as later.\n"
      "The exit status is 0 when at least one device is ready; with --strict, the first one must be.");
  app.callback([options, &chosen] { chosen = [options] { return warm(*options); }; });
}

}  // namespace latebind::cli

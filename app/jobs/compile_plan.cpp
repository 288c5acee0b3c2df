#include "app/jobs/compile_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/shape_text.h"
#include "core/platform/system_info.h"

namespace latebind::app {
namespace {

using core::CompileJob;
using core::Result;
using core::Status;
using core::StatusCode;

// What compiling takes at its worst, as a multiple of the model's size: the vendors' compilers hold it several times.
constexpr std::uint64_t kMemoryPerJob = 6;

constexpr std::int64_t kDimensionMax = 1 << 24;

// The word for shapes when it is one.
std::string_view word_of_shapes(const CompileOptions& options) {
  if (options.shapes.size() != 1) return {};
  const std::string& only = options.shapes.front();
  return only == kAutoShapes || only == kStaticShapes || only == kDynamicShapes ? std::string_view(only)
                                                                                : std::string_view();
}

// "1x32" each.
Result<std::vector<core::Shape>> parse_shapes(const std::vector<std::string>& items, const Client& client) {
  std::vector<core::Shape> shapes;
  for (const std::string& item : items) {
    LB_ASSIGN_OR_RETURN(shapes.emplace_back(), parse_dims(client.name("shapes"), item, 1, kDimensionMax));
  }
  return shapes;
}

// The shapes to compile for this target; one without dimensions means as the model declares them.
Result<std::vector<std::optional<core::Shape>>> shapes_for(const CompileOptions& options, const Settings& settings,
                                                           const CompileInput& input, const core::Device& device,
                                                           const Client& client) {
  const std::string_view word = word_of_shapes(options);
  // CPUs and GPUs take texts of any length.
  const bool any_length = input.folder && device.kind != core::DeviceKind::kNpu;
  if (word == kDynamicShapes || any_length || (word == kAutoShapes && !input.folder)) {
    return std::vector<std::optional<core::Shape>>{std::nullopt};
  }
  std::vector<std::optional<core::Shape>> shapes;
  if (!word.empty()) {
    if (!input.folder) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{} static is for models that embed text", client.name("shapes")));
    }
    for (const std::size_t length : settings.static_lengths) {
      if (length < input.longest) shapes.emplace_back(core::Shape{1, static_cast<std::int64_t>(length)});
    }
    shapes.emplace_back(core::Shape{1, static_cast<std::int64_t>(input.longest)});
    return shapes;
  }
  LB_ASSIGN_OR_RETURN(const auto given, parse_shapes(options.shapes, client));
  for (const core::Shape& shape : given)
    shapes.emplace_back(shape);
  return shapes;
}

}  // namespace

Status check_shapes(const CompileOptions& options, const Client& client) {
  if (!word_of_shapes(options).empty()) return {};
  const auto shapes = parse_shapes(options.shapes, client);
  if (shapes.ok()) return {};
  return {StatusCode::kInvalidArgument, fmt::format("{}; {} is auto, static, dynamic or a list such as 1x32,1x128",
                                                    shapes.status().message(), client.name("shapes"))};
}

Status plan_compile(const CompileOptions& options, const Runtime& runtime, const CompileInput& input,
                    const Client& client, CompileReport& report) {
  std::vector<CompileJob> jobs;
  const core::CompileTargets targets(runtime.registry);
  for (const std::string& text : options.targets) {
    auto target = targets.find(text);
    if (!target.ok()) {
      if (!options.keep_going) {
        report.options_are_wrong = targets.all_asked() && target.status().code() == StatusCode::kDeviceNotFound;
        return target.status();
      }
      report.refused.push_back(target.status().with_context(text));
      continue;
    }
    LB_ASSIGN_OR_RETURN(const auto shapes, shapes_for(options, runtime.settings, input, target->device, client));
    for (const auto& shape : shapes) {
      CompileJob job{*target, runtime.load.compile};
      if (!runtime.precision_given) job.options.precision = core::default_precision(target->device);
      if (shape) job.options.input_shapes.assign(std::max<std::size_t>(input.inputs, 1), *shape);
      const std::string name = core::variant_name(job);
      const bool twice = std::ranges::any_of(jobs, [&](const auto& other) { return variant_name(other) == name; });
      if (!twice) jobs.push_back(std::move(job));
    }
  }
  report.jobs = std::move(jobs);
  return {};
}

unsigned side_by_side(const CompileOptions& options, const CompileInput& input) {
  if (options.side_by_side != 0) return options.side_by_side;
  const std::uint64_t memory = platform::available_memory_bytes() / 2;
  const std::uint64_t one = std::max<std::uint64_t>(input.bytes * kMemoryPerJob, std::uint64_t{256} << 20);
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>(memory / one, 1, std::min(platform::usable_processors(), kSideBySideMax)));
}

}  // namespace latebind::app

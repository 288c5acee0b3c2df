#include "core/bundle/compile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "core/backend/questions.h"
#include "core/bundle/choose.h"
#include "core/graph/onnx_structure.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/text/one_line.h"
#include "core/text/quote.h"
#include "core/threads/mutex.h"
#include "core/threads/thread_pool.h"

namespace latebind::core {
namespace {

bool is_meant(std::string_view text, const Device& device) {
  return text == device.id() || text == device.target() || (text == word_of(device.kind) && !device.is_virtual());
}

// Returns "1x32" for inputs of one shape, "1x32+1x8" for several.
std::string shapes_text(const std::vector<Shape>& shapes) {
  std::vector<std::string> texts;
  for (const Shape& shape : shapes) {
    texts.push_back(shape.rank() == 0 ? "scalar" : fmt::format("{}", fmt::join(shape.dims(), "x")));
  }
  if (std::ranges::adjacent_find(texts, std::not_equal_to<>()) == texts.end()) texts.resize(1);
  return fmt::format("{}", fmt::join(texts, "+"));
}

CompileOutcome compile_one(const Model& model, const CompileJob& job, bool strict) {
  const auto start = std::chrono::steady_clock::now();
  CompileOutcome outcome;
  const auto compile = [&](HostNodes host_nodes, LeftNodes& left) {
    CompileOptions options = job.options;
    options.host_nodes = host_nodes;
    return compile_blob(*job.target.backend, model, job.target.device.name, options, &left);
  };
  auto blob = compile(HostNodes::kNone, outcome.left);
  if (!blob.ok() && !strict && blob.status().code() == StatusCode::kUnsupported) {
    LeftNodes left;
    if (auto parts = compile(HostNodes::kAny, left); parts.ok()) {
      outcome.note = blob.status().to_string();
      outcome.left = std::move(left);
      blob = std::move(parts);
    }
  }
  // The blobs and the portable form of a bundle must come from the same bytes.
  if (blob.ok()) {
    if (Status same = model.check_files(); !same.ok()) blob = std::move(same);
  }
  if (blob.ok()) {
    outcome.blob = *std::move(blob);
  } else {
    outcome.status = blob.status();
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

}  // namespace

// Real devices come first, because a machine usually compiles for itself.
CompileTargets::CompileTargets(const Registry& registry) {
  const auto add = [this](const std::shared_ptr<Backend>& backend, Result<std::vector<Device>> devices) {
    if (!devices.ok()) {
      reasons_.push_back(fmt::format("{}: {}", backend->name(), devices.status().brief()));
      return;
    }
    for (Device& device : *devices)
      all_.push_back({{}, backend, std::move(device)});
  };
  for (const auto& backend : registry.all())
    add(backend, backend->devices());
  for (const auto& backend : registry.all())
    add(backend, virtual_devices_of(*backend));
}

Result<CompileTarget> CompileTargets::find(std::string_view text) const {
  std::string missing;
  for (const CompileTarget& target : all_) {
    if (!is_meant(text, target.device)) continue;
    // Such a device compiles nothing, and its backend says so when it is named.
    if (target.device.traits.graphs_only && text != target.device.id()) continue;
    const auto& absent = target.device.traits.virtual_device;
    if (absent && absent->compiler == TargetCompiler::kMissing) {
      if (missing.empty()) missing = absent->missing;
      continue;
    }
    CompileTarget found = target;
    found.text = text;
    return found;
  }
  if (!missing.empty()) {
    return Status(StatusCode::kLibraryNotFound,
                  fmt::format("no compiler for {} is installed; missing: {}", text, missing));
  }
  std::vector<std::string> names;
  for (const CompileTarget& target : all_) {
    if (target.device.traits.graphs_only) continue;
    names.push_back(target.device.target());
    if (!target.device.is_virtual()) names.push_back(target.device.id());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::vector<std::string_view> known(names.begin(), names.end());
  const Status unknown = unknown_word_error("target", text, known);
  return Status(StatusCode::kDeviceNotFound,
                reasons_.empty() ? std::string(unknown.message())
                                 : fmt::format("{}; not tried: {}", unknown.message(), fmt::join(reasons_, "; ")));
}

Precision default_precision(const Device& device) {
  const auto& known = device.traits.precisions;
  if (known.empty()) return device.kind == DeviceKind::kNpu ? Precision::kF16 : Precision::kF32;
  return device.traits.computes_in(Precision::kF32) ? Precision::kF32 : known.front();
}

std::string variant_name(const CompileJob& job) {
  std::string target = job.target.device.target();
  std::ranges::replace(target, ':', '-');
  // The architecture of an NPU identifies its vendor, but several backends may have the same CPU or GPU.
  if (job.target.device.kind != DeviceKind::kNpu) target += "-" + job.target.device.backend;
  std::string name = fmt::format("{}-{}", target, word_of(job.options.precision));
  if (!job.options.input_shapes.empty()) name += "-" + shapes_text(job.options.input_shapes);
  return name;
}

std::vector<CompileOutcome> compile_all(const Model& model, std::span<const CompileJob> jobs, const CompileRun& run) {
  std::vector<CompileOutcome> outcomes(jobs.size());
  std::atomic<bool> stop{false};
  Mutex telling;
  const auto tell = [&](std::size_t job, const CompileOutcome* outcome) {
    const MutexLock lock(telling);
    if (run.tell) run.tell(job, outcome);
  };
  const auto work = [&](std::size_t i) {
    const bool cancelled = run.cancellation.is_requested();
    if (stop || cancelled) {
      outcomes[i].status = Status(StatusCode::kCancelled,
                                  cancelled ? "not started: cancelled" : "not started, because another target failed");
      return;
    }
    try {  // an exception on this thread would end the program
      tell(i, nullptr);
      outcomes[i] = compile_one(model, jobs[i], run.strict);
    } catch (...) {
      outcomes[i].status = Status::of_exception().with_context("compiling");
    }
    if (!outcomes[i].status.ok() && !run.keep_going) stop = true;
    try {
      tell(i, &outcomes[i]);
    } catch (...) {
      outcomes[i].status = Status::of_exception().with_context("telling what came of it");
    }
  };
  const std::size_t helpers = std::clamp<std::size_t>(run.side_by_side, 1, std::max<std::size_t>(jobs.size(), 1)) - 1;
  ThreadPool(helpers).share(jobs.size(), helpers, work);
  return outcomes;
}

VariantInput portable_input(ModelFormat format) {
  VariantInput variant;
  variant.name = kPortableTarget;
  LatebindInfo info;
  info.target = kPortableTarget;
  info.format = word_of(format);
  info.model = format == ModelFormat::kOnnx ? "model.onnx" : "model.xml";
  if (format == ModelFormat::kOnnx) {
    // Without a device, so that ONNX Runtime accepts it on any.
    variant.ep = kHostCpuProvider;
    variant.executor_info[kHostSlot] = {{kHostModelFile, info.model}};
  }
  variant.latebind = std::move(info);
  return variant;
}

Status check_portable_onnx(std::span<const std::byte> bytes, std::string_view name) {
  if (!graph::may_name_external_data(bytes)) return {};
  return {StatusCode::kUnsupported,
          fmt::format("{}: its data is in other files, which bundles do not support yet", name)};
}

Status add_portable(const Model& model, PackageWriter& writer) {
  const ModelForm& form = model.forms().front();
  VariantInput variant = portable_input(form.format);
  for (const auto& file : model.files()) {
    LB_ASSIGN_OR_RETURN(auto mapped, platform::MappedFile::open(file));
    const auto owner = std::make_shared<const platform::MappedFile>(std::move(mapped));
    if (form.format == ModelFormat::kOnnx) {
      LB_RETURN_IF_ERROR(check_portable_onnx(owner->bytes(), platform::path_to_utf8(file)));
    }
    variant.files.push_back({file == form.file ? variant.latebind->model : "model.bin", {owner, owner->bytes()}});
  }
  return writer.add_variant(kModelComponent, std::move(variant));
}

std::optional<RefusedTarget> refused_target(const Model& model, const CompileJob& job, const CompileOutcome& outcome) {
  const Status& status = outcome.status;
  if (status.ok() || (band_of(status.code()) != StatusBand::kCaller && status.code() != StatusCode::kDeviceFailed)) {
    return std::nullopt;
  }
  // Folders are removed, because they are private and would make two bundles of one model differ.
  std::string reason = status.to_string();
  for (const auto& file : model.files()) {
    const std::string place = platform::path_to_utf8(file);
    const std::string name = platform::path_to_utf8(file.filename());
    for (auto at = reason.find(place); at != std::string::npos; at = reason.find(place, at + name.size()))
      reason.replace(at, place.size(), name);
  }
  const Device& device = job.target.device;
  return RefusedTarget{.variant = variant_name(job),
                       .target = device.target(),
                       .backend = device.backend,
                       .device = device.name,
                       .runtime_version = device.runtime_version,
                       .precision = std::string(word_of(job.options.precision)),
                       .shapes = dims_of(job.options.input_shapes),
                       .reason = printable(one_line(reason), kRefusedReasonMax),
                       .nodes = outcome.left};
}

VariantInput variant_of(const CompileJob& job, const CompileOutcome& outcome) {
  const Blob& blob = *outcome.blob;
  const Device& device = job.target.device;
  VariantInput variant;
  variant.name = variant_name(job);
  variant.device = device.kind == DeviceKind::kOther ? "" : std::string(word_of(device.kind));
  variant.compatibility_string = blob.compatibility;
  // A plugin provider's blob is an ONNX model around its context, which stock ONNX Runtime loads with that provider.
  std::string file = "model.blob";
  if (!blob.compatibility.empty()) {
    variant.ep = device.traits.provider;
    file = "model.onnx";
    variant.executor_info[kHostSlot] = {{kHostModelFile, file}};
  }
  LatebindInfo info;
  info.target = device.target();
  info.backend = blob.backend;
  info.device = blob.device;
  info.runtime_version = blob.runtime_version;
  info.precision = word_of(blob.precision);
  info.format = "blob";
  info.model = file;
  info.shapes = dims_of(job.options.input_shapes);
  info.left_to_cpu = outcome.left;
  info.is_copied = blob.is_copied;
  variant.latebind = std::move(info);
  variant.files.push_back({file, blob.bytes});
  return variant;
}

}  // namespace latebind::core

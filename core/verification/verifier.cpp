#include "core/verification/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/cache/cached_load.h"
#include "core/log.h"
#include "core/platform/files/folders.h"
#include "core/verification/kept_verdict.h"

namespace latebind::core {
namespace {

Result<std::vector<Device>> available_devices(Backend& backend) {
  LB_RETURN_IF_ERROR(backend.available());
  return backend.devices();
}

// Identifies a model by the files it comes from, as they were when it was opened.
std::string key_of_model(const Model& model) {
  std::string key = model.name();
  for (const SourceFile& source : model.sources()) {
    key += fmt::format("\n{} {} {} {}", platform::path_to_utf8(source.file), source.identity.device,
                       source.identity.file, source.identity.changed_ns);
  }
  return key;
}

CompileOptions options_of_reference(const CompileOptions& compile) {
  CompileOptions options;
  options.hint = compile.hint;
  options.threads = compile.threads;
  options.requests = compile.requests;
  options.input_shapes = compile.input_shapes;
  return options;
}

}  // namespace

const Disagreements::Sides* Disagreements::find(const std::string& model) const {
  const auto found = std::ranges::find(models_, model, &Sides::model);
  return found == models_.end() ? nullptr : &*found;
}

void Disagreements::add(const std::string& model, const std::string& refused, const std::string& reference) {
  const MutexLock lock(mutex_);
  auto sides = std::ranges::find(models_, model, &Sides::model);
  if (sides == models_.end()) {
    if (models_.size() == kModelsMax) models_.pop_front();
    models_.push_back({.model = model});
    sides = std::prev(models_.end());
  }
  sides->refused.insert(refused);
  sides->references.insert(reference);
}

bool Disagreements::is_refused(const std::string& model, const std::string& device) const {
  const MutexLock lock(mutex_);
  const Sides* found = find(model);
  return found != nullptr && found->refused.contains(device);
}

bool Disagreements::is_reference(const std::string& model, const std::string& device) const {
  const MutexLock lock(mutex_);
  const Sides* found = find(model);
  return found != nullptr && found->references.contains(device);
}

Result<std::vector<Device>> reference_devices(std::span<const std::shared_ptr<Backend>> backends,
                                              const std::string& device, const std::string& against,
                                              std::string* missing) {
  std::vector<Device> found;
  std::string reasons;
  std::string here;
  for (const auto& backend : backends) {
    if (!against.empty() && !against.starts_with(std::string(backend->name()) + ":")) continue;
    auto devices = available_devices(*backend);
    if (!devices.ok()) {
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", backend->name(), devices.status().brief());
      continue;
    }
    for (Device& one : *devices) {
      here += (here.empty() ? "" : ", ") + one.id();
      const bool is_wanted = against.empty() ? one.kind == DeviceKind::kCpu && one.id() != device : one.id() == against;
      if (is_wanted && !one.is_virtual()) found.push_back(std::move(one));
    }
  }
  if (missing != nullptr) *missing = reasons;
  if (!found.empty()) {
    std::ranges::stable_sort(found, {}, [](const Device& one) { return !one.traits.graphs_only; });
    return found;
  }
  if (against.empty()) {
    return no_reference_error(device, reasons.empty() ? "there is no other CPU device" : reasons);
  }
  if (reasons.empty()) {
    reasons = here.empty() ? "no such backend" : fmt::format("no such device; available: {}", here);
  }
  return Status(StatusCode::kDeviceNotFound, fmt::format("{} cannot be compared with: {}", against, reasons));
}

Status no_reference_error(const std::string& device, const std::string& reasons) {
  return Status(StatusCode::kNoDevice, fmt::format("there is nothing to compare {} with: {}", device, reasons));
}

Verifier::Verifier(std::vector<std::shared_ptr<Backend>> backends, Model model, Setup setup)
    : backends_(std::move(backends)),
      model_(std::move(model)),
      model_key_(key_of_model(model_)),
      setup_(std::move(setup)),
      reference_options_(options_of_reference(setup_.compile)),
      disagreements_(setup_.verification.disagreements ? setup_.verification.disagreements
                                                       : std::make_shared<Disagreements>()),
      settled_(setup_.cache != nullptr && is_settled(model_, setup_.cache->store()->digests())) {}

Status Verifier::verify(const Device& device, const CompileOptions& compile, Executable& executable) {
  const std::string id = device.id();
  if (id == setup_.verification.against || disagreements_->is_reference(model_key_, id)) {
    executable.note_verification("it is the device that others are compared with");
    return {};
  }
  std::string reasons;
  auto references = reference_devices(backends_, id, setup_.verification.against, &reasons);
  if (!references.ok()) {
    reasons = std::string(references.status().message());
    references = std::vector<Device>{};
  }
  for (const Device& reference : *references) {
    const auto skipped = [&](std::string_view why) {
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", reference.id(), why);
    };
    if (disagreements_->is_refused(model_key_, reference.id())) {
      skipped("it was refused because it disagreed");
      continue;
    }
    if (reference.traits.graphs_only && model_.graph() == nullptr) {
      skipped(DeviceTraits::kNeedsGraph);
      continue;
    }
    const VerdictSubject subject{
        device, compile, executable.active(), reference, reference_options_, setup_.verification.samples_name};
    auto known = find_verdict(setup_.cache.get(), model_, subject);
    if (!known) {
      const auto compared = compare_with(reference, device, executable);
      if (!compared.ok()) {
        skipped(compared.status().brief());
        continue;
      }
      if (!compared->failure.ok()) {
        return Status(StatusCode::kDeviceFailed, fmt::format("compared with {}, {}", reference.id(), compared->text()));
      }
      known = Verdict{compared->agrees(), compared->text()};
      if (settled_) keep_verdict(setup_.cache.get(), model_, subject, *known);
    }
    if (!known->agrees) {
      disagreements_->add(model_key_, id, reference.id());
      return Status(StatusCode::kUnsupported,
                    fmt::format("it disagrees with {} in f32: {}", reference.id(), known->text));
    }
    executable.note_verification(fmt::format("agrees with {}: {}", reference.id(), known->text));
    return {};
  }
  const Status nothing = no_reference_error(id, reasons);
  if (setup_.strict) return nothing;
  executable.note_verification(fmt::format("not verified: {}", nothing.message()));
  log(LogLevel::kWarning, fmt::format("{} is not verified for {}: {}", id, model_.name(), nothing.message()));
  return {};
}

Result<std::unique_ptr<Executable>> Verifier::load(const Device& reference) const {
  const auto backend =
      std::ranges::find_if(backends_, [&](const auto& one) { return one->name() == reference.backend; });
  return ready_or_cached_load(**backend, model_, reference, reference_options_, setup_.cache.get());
}

Result<Comparison> Verifier::compare_with(const Device& reference, const Device& device, Executable& executable) const {
  LB_ASSIGN_OR_RETURN(const auto loaded, load(reference));
  LB_ASSIGN_OR_RETURN(const auto samples, setup_.verification.samples ? setup_.verification.samples(executable.inputs())
                                                                      : random_samples(executable.inputs()));
  const auto runs = [](Executable& on, std::optional<std::chrono::milliseconds> timeout) {
    return Comparand{on.outputs(), [&on, timeout](std::span<const TensorView> in, std::span<OutputTensor> out) {
                       return on.execute(in, out, {.run_timeout = timeout});
                     }};
  };
  return compare(runs(executable, run_timeout_of(setup_.failover, device.kind)), runs(*loaded, std::nullopt), samples,
                 executable.active().precision);
}

}  // namespace latebind::core

#include "hosts/executorch/delegate.h"

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "hosts/executorch/log.h"
#include "hosts/executorch/payload.h"

namespace latebind::delegate {
namespace {

namespace et = ::executorch::runtime;

constexpr std::size_t kSpecsMax = 64;

void say_line(void* /*context*/, std::int32_t level, const char* text) {
  say(level >= LB_LOG_ERROR ? Level::kError : Level::kInfo, text);
}

// Catches all exceptions, since ExecuTorch is built without them.
template <class Body>
auto guarded(Body&& body, et::Error otherwise) noexcept -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::exception& error) {
    say(Level::kError, error.what());
  }
  return otherwise;
}

// Whether there is any device. Which devices take a program is known only after loading it.
bool has_devices(const lb_runtime* runtime) {
  lb_device_list* list = nullptr;
  if (lb_device_list_create(runtime, 0, &list) != LB_OK) return false;
  const bool any = lb_device_list_count(list) > 0;
  lb_device_list_destroy(list);
  return any;
}

std::string method_name(const char* name) {
  return name != nullptr && *name != '\0' ? std::string(name).substr(0, 64) : std::string("a method");
}

// An event of the tracer, from construction to destruction; does nothing without a tracer.
class Event {
 public:
  Event(et::EventTracer* tracer, const char* name) : tracer_(tracer) {
    if (tracer_ != nullptr) entry_ = tracer_->start_profiling_delegate(name, et::kUnsetDelegateDebugIntId);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    if (tracer_ != nullptr) tracer_->end_profiling_delegate(entry_, device.data(), device.size());
  }
  std::string device;

 private:
  et::EventTracer* tracer_;
  et::EventTracerEntry entry_{};
};

// The member of LoadedMethod::Active that a read-only key names; null for other keys.
std::string LoadedMethod::Active::*active_text(std::string_view key) {
  if (key == kActiveDeviceKey) return &LoadedMethod::Active::device;
  if (key == kActivePrecisionKey) return &LoadedMethod::Active::precision;
  if (key == kActiveRuntimeVersionKey) return &LoadedMethod::Active::runtime_version;
  return nullptr;
}

}  // namespace

LatebindBackend::~LatebindBackend() {
  lb_runtime_destroy(runtime_);
}

lb_runtime* LatebindBackend::runtime() const {
  const core::MutexLock lock(mutex_);
  if (runtime_ == nullptr || !runtime_made_.this_process()) {
    runtime_made_ = {};
    lb_set_log(&say_line, nullptr, LB_LOG_WARNING);
    if (const lb_code code = lb_runtime_create(nullptr, &runtime_); code != LB_OK) {
      (void)say_last_error("Latebind cannot start", code);
      runtime_ = nullptr;
    }
  }
  return runtime_;
}

bool LatebindBackend::is_available() const {
  const auto available = [&]() -> et::Error {
    const lb_runtime* here = runtime();
    if (here == nullptr) return et::Error::Internal;
    const Status check = Status::of(lb_runtime_check(here));
    const Status status = !check.ok() && has_devices(here) ? Status() : check;
    {
      const core::MutexLock lock(mutex_);
      if (logged_reason_ == status.message()) return error_of(status.code());
      logged_reason_ = status.message();
    }
    if (!status.ok()) say(Level::kError, status.message());
    return error_of(status.code());
  };
  return guarded(available, et::Error::Internal) == et::Error::Ok;
}

et::Error LatebindBackend::read_options(et::BackendInitContext& context, et::ArrayRef<et::CompileSpec> compile_specs,
                                        const std::string& method, LoadOptions& options) const {
  const auto refuse = [&](const std::string& complaint) {
    say(Level::kError, method + ": " + complaint);
    return et::Error::InvalidArgument;
  };
  if (compile_specs.size() > kSpecsMax) return refuse(std::to_string(compile_specs.size()) + " compile specs");
  for (const et::CompileSpec& spec : compile_specs) {
    if (spec.key == nullptr) return refuse("a compile spec without a key");
    const std::string_view value(static_cast<const char*>(spec.value.buffer),
                                 spec.value.buffer != nullptr ? spec.value.nbytes : 0);
    if (const auto complaint = options.set_spec(spec.key, value)) return refuse("compile spec: " + *complaint);
  }
  {
    const core::MutexLock lock(mutex_);
    options.apply(options_);
  }
  for (const et::BackendOption& option : context.runtime_specs())
    if (const auto complaint = options.set(option)) return refuse("option of the load: " + *complaint);
  return et::Error::Ok;
}

et::Result<et::DelegateHandle*> LatebindBackend::init(et::BackendInitContext& context, et::FreeableBuffer* processed,
                                                      et::ArrayRef<et::CompileSpec> compile_specs) const {
  std::unique_ptr<LoadedMethod> loaded;
  const auto load = [&]() -> et::Error {
    const std::string name = method_name(context.get_method_name());
    Event whole(context.event_tracer(), "latebind.init");
    const lb_runtime* here = runtime();
    if (here == nullptr) return et::Error::Internal;
    LoadOptions options;
    ET_CHECK_OK_OR_RETURN_ERROR(read_options(context, compile_specs, name, options));
    const auto payload = processed != nullptr ? Payload::take(*processed) : nullptr;
    if (!payload || payload->bytes().empty()) {
      say(Level::kError, name + ": the program has no payload for this backend");
      return et::Error::InvalidProgram;
    }
    Event compiling(context.event_tracer(), "latebind.compile");
    const Options resolved = options.resolved();
    if (!resolved.status().ok()) return say_status(name, resolved.status());
    ET_CHECK_OK_OR_RETURN_ERROR(LoadedMethod::load(here, name, payload, resolved.get(), loaded));
    const auto active = loaded->active();
    whole.device = compiling.device = active.device;
    const bool is_fallback = !active.reason.empty();
    std::string line =
        name + ": on " + active.device + " in " + active.precision + ", runtime " + active.runtime_version;
    if (is_fallback) line += "; " + active.reason;
    // Only a fallback is logged as information: in Python, ExecuTorch's log crashes if two threads that load programs
    // write to it.
    say(is_fallback ? Level::kInfo : Level::kDebug, line);
    const core::MutexLock lock(mutex_);
    loaded_.push_back(loaded.get());
    return et::Error::Ok;
  };
  const et::Error error = guarded(load, et::Error::MemoryAllocationFailed);
  if (error != et::Error::Ok) return error;
  return static_cast<et::DelegateHandle*>(loaded.release());
}

et::Error LatebindBackend::execute(et::BackendExecutionContext& context, et::DelegateHandle* handle,
                                   et::Span<et::EValue*> args) const {
  if (handle == nullptr) return et::Error::DelegateInvalidHandle;
  return guarded([&] { return static_cast<LoadedMethod*>(handle)->execute(context, args); },
                 et::Error::MemoryAllocationFailed);
}

et::Error LatebindBackend::set_option(et::BackendOptionContext& /*context*/,
                                      const et::Span<et::BackendOption>& options) {
  const auto set = [&]() -> et::Error {
    const lb_runtime* here = runtime();
    if (here == nullptr) return et::Error::Internal;
    LoadOptions changed;
    {
      const core::MutexLock lock(mutex_);
      changed = options_;
    }
    for (const et::BackendOption& option : options) {
      const std::string_view key = text_in(option.key);
      if (active_text(key) != nullptr) {
        say(Level::kError,
            "set_option: " + std::string(key) + " can only be read; set device and precision for the next load");
        return et::Error::InvalidArgument;
      }
      if (const auto complaint = changed.set(option)) {
        say(Level::kError, "set_option: " + *complaint);
        return et::Error::InvalidArgument;
      }
    }
    const Options resolved = changed.resolved();
    if (!resolved.status().ok()) return say_status("set_option", resolved.status());
    if (const lb_code code = lb_runtime_check_options(here, resolved.get()); code != LB_OK) {
      return say_last_error("set_option", code);
    }
    const core::MutexLock lock(mutex_);
    options_ = std::move(changed);
    return et::Error::Ok;
  };
  return guarded(set, et::Error::MemoryAllocationFailed);
}

et::Error LatebindBackend::get_option(et::BackendOptionContext& /*context*/, et::Span<et::BackendOption>& options) {
  const auto get = [&]() -> et::Error {
    const core::MutexLock lock(mutex_);
    for (et::BackendOption& option : options) {
      const std::string_view key = text_in(option.key);
      std::string text;
      if (const auto member = active_text(key)) {
        if (!loaded_.empty()) text = loaded_.back()->active().*member;
      } else if (auto set = options_.text(key)) {
        text = *std::move(set);
      } else {
        (void)say_last_error("get_option", LB_INVALID_ARGUMENT);
        return et::Error::NotFound;
      }
      std::array<char, et::kMaxOptionValueLength> value{};
      std::copy_n(text.data(), std::min(text.size(), value.size() - 1), value.data());
      option.value = value;
    }
    return et::Error::Ok;
  };
  return guarded(get, et::Error::MemoryAllocationFailed);
}

void LatebindBackend::destroy(et::DelegateHandle* handle) const {
  const std::unique_ptr<LoadedMethod> method(static_cast<LoadedMethod*>(handle));
  const core::MutexLock lock(mutex_);
  std::erase(loaded_, method.get());
}

}  // namespace latebind::delegate

#include "backends/onnxruntime/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <mutex>
#include <utility>

#include "backends/onnxruntime/executable.h"
#include "backends/onnxruntime/session.h"
#include "core/platform/system_info.h"

namespace latebind::onnxruntime {
namespace {

using core::Blob;
using core::CompileOptions;
using core::Executable;
using core::Model;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::string_view kBackendName = "onnxruntime";
constexpr std::string_view kCpu = "CPU";

Status check_device(std::string_view device) {
  if (device == kCpu) return {};
  return Status(StatusCode::kDeviceNotFound, fmt::format("onnxruntime has no device '{}'; it has {}", device, kCpu));
}

// Whether the blob can have been made for this device by this library, as far as its label tells.
Status check_label(const Blob& blob, const CompileOptions& options, const std::string& version) {
  const auto refuse = [](std::string text) { return Status(StatusCode::kIncompatibleBlob, std::move(text)); };
  if (blob.backend != kBackendName) {
    return refuse(fmt::format("the blob was made by {}, not by {}", blob.backend, kBackendName));
  }
  if (blob.device != kCpu) return refuse(fmt::format("the blob was made for device {}, not for {}", blob.device, kCpu));
  if (blob.runtime_version != version) {
    return refuse(fmt::format("the blob was made by ONNX Runtime {}, here is {}", blob.runtime_version, version));
  }
  if (blob.precision != options.precision) {
    return refuse(fmt::format("the blob computes in {}, asked for is {}", core::word_of(blob.precision),
                              core::word_of(options.precision)));
  }
  if (!options.input_shapes.empty()) return refuse("a blob's input shapes can not be changed");
  return {};
}

class OnnxruntimeBackend final : public core::Backend {
 public:
  explicit OnnxruntimeBackend(BackendOptions options)
      : loader_(
            wanted_library(core::own_system()),
            [path = std::move(options.library_path)] {
              return core::SearchFacts::gather(wanted_library(core::own_system()), path);
            },
            open_library) {}

  [[nodiscard]] std::string_view name() const override { return kBackendName; }

  [[nodiscard]] Status available() override { return loader_.library().status(); }

  [[nodiscard]] Result<std::vector<core::Device>> devices() override {
    LB_ASSIGN_OR_RETURN(const auto environment, shared_environment());
    LB_ASSIGN_OR_RETURN(const auto providers, environment->providers());
    core::Device cpu;
    cpu.backend = kBackendName;
    cpu.name = kCpu;
    cpu.kind = core::DeviceKind::kCpu;
    cpu.full_name = platform::cpu_name();
    cpu.runtime_version = environment->library().version;
    cpu.metadata["Provider"] = "CPUExecutionProvider";
    cpu.metadata["AvailableProviders"] = fmt::format("{}", fmt::join(providers, ","));
    cpu.metadata["Precisions"] = core::word_of(core::Precision::kF32);
    return std::vector{std::move(cpu)};
  }

  [[nodiscard]] Result<std::string> runtime_version() override {
    LB_ASSIGN_OR_RETURN(const auto library, loader_.library());
    return library->version;
  }

  [[nodiscard]] Result<Blob> compile(const Model& model, std::string_view device,
                                     const CompileOptions& options) override {
    LB_RETURN_IF_ERROR(check_device(device));
    LB_ASSIGN_OR_RETURN(const auto environment, shared_environment());
    return make_blob(*environment, model, options, SessionKind::kCompile);
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    LB_RETURN_IF_ERROR(check_device(device));
    LB_ASSIGN_OR_RETURN(const auto environment, shared_environment());
    LB_ASSIGN_OR_RETURN(auto session, load_model(environment, model, options));
    return make_executable(std::move(session), options);
  }

  // The vendor writes its file while it makes a session, and takes longer then: another session makes it, later.
  [[nodiscard]] Result<core::LoadedModel> load_exporting(const Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    LB_RETURN_IF_ERROR(check_device(device));
    LB_ASSIGN_OR_RETURN(const auto environment, shared_environment());
    LB_ASSIGN_OR_RETURN(auto session, load_model(environment, model, options));
    LB_ASSIGN_OR_RETURN(auto executable, make_executable(std::move(session), options));
    return core::LoadedModel{std::move(executable), [environment, model, options] {
                               return make_blob(*environment, model, options, SessionKind::kCompileHere);
                             }};
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const Blob& blob, std::string_view device,
                                                         const CompileOptions& options) override {
    LB_RETURN_IF_ERROR(check_device(device));
    LB_ASSIGN_OR_RETURN(const auto environment, shared_environment());
    LB_RETURN_IF_ERROR(check_label(blob, options, environment->library().version));
    LB_ASSIGN_OR_RETURN(auto session, load_blob(environment, blob, options));
    return make_executable(std::move(session), options);
  }

  [[nodiscard]] std::vector<core::SearchStep> search_trace() override { return loader_.trace(); }

  [[nodiscard]] std::string install_hint() const override { return loader_.wanted().install_command; }

 private:
  static Result<Blob> make_blob(const Environment& environment, const Model& model, const CompileOptions& options,
                                SessionKind kind) {
    Blob blob;
    LB_ASSIGN_OR_RETURN(blob.bytes, compile_model(environment, model, options, kind));
    blob.backend = kBackendName;
    blob.device = kCpu;
    blob.runtime_version = environment.library().version;
    blob.precision = options.precision;
    return blob;
  }

  static Result<std::unique_ptr<Executable>> make_executable(Session session, const CompileOptions& options) {
    const Concurrency concurrency = concurrency_of(options);
    core::ActiveConfig active;
    active.backend = kBackendName;
    active.device = kCpu;
    active.device_full_name = platform::cpu_name();
    active.runtime_version = session.environment->library().version;
    active.library_file = session.environment->library().file;
    active.precision = core::Precision::kF32;
    active.threads = concurrency.threads;
    active.requests = concurrency.requests;
    active.from_cache = session.from_blob;
    return OnnxruntimeExecutable::create(std::move(session), std::move(active));
  }

  // One for all questions; made anew when it could not be made before.
  Result<std::shared_ptr<const Environment>> shared_environment() {
    LB_ASSIGN_OR_RETURN(auto library, loader_.library());
    const std::lock_guard lock(mutex_);
    if (!environment_) {
      LB_ASSIGN_OR_RETURN(environment_, Environment::create(std::move(library)));
    }
    return environment_;
  }

  Loader loader_;
  std::mutex mutex_;
  std::shared_ptr<const Environment> environment_;  // guarded by mutex_
};

}  // namespace

std::shared_ptr<core::Backend> make_backend(BackendOptions options) {
  return std::make_shared<OnnxruntimeBackend>(std::move(options));
}

}  // namespace latebind::onnxruntime

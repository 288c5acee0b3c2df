#include "backends/onnxruntime/environment.h"

#include <algorithm>
#include <utility>

#include "core/log.h"

namespace latebind::onnxruntime {
namespace {

using core::LogLevel;
using core::Result;

// Forwards the vendor's warnings and errors to Latebind's log. Called from the vendor's threads as well, so it must not
// throw.
void forward_log(void*, abi::LoggingLevel severity, const char*, const char*, const char*, const char* message) {
  const LogLevel level = severity >= abi::kLogError ? LogLevel::kError : LogLevel::kWarning;
  if (message == nullptr || !core::log_enabled(level)) return;
  try {
    std::string line = "ONNX Runtime: ";
    line += message;
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    core::log_from_vendor(level, line);
  } catch (...) {
    // The line is lost if memory runs out.
  }
}

}  // namespace

Result<std::shared_ptr<const Environment>> Environment::create(std::shared_ptr<const Library> library) {
  const abi::Api& api = library->api;
  abi::Env* env = nullptr;
  LB_ORT_RETURN_IF_ERROR(*library,
                         api.CreateEnvWithCustomLogger(forward_log, nullptr, abi::kLogWarning, "latebind", &env),
                         "ONNX Runtime does not start");
  Owned<abi::Env> owned_env(env, api.ReleaseEnv);
  LB_ORT_RETURN_IF_ERROR(*library, api.DisableTelemetryEvents(env), "ONNX Runtime does not turn its telemetry off");
  abi::MemoryInfo* memory = nullptr;
  LB_ORT_RETURN_IF_ERROR(*library, api.CreateCpuMemoryInfo(abi::kDeviceAllocator, abi::kMemTypeDefault, &memory),
                         "ONNX Runtime does not describe ordinary memory");
  Owned<abi::MemoryInfo> owned_memory(memory, api.ReleaseMemoryInfo);
  return std::shared_ptr<const Environment>(
      new Environment(std::move(library), std::move(owned_env), std::move(owned_memory)));
}

Result<std::vector<std::string>> Environment::providers() const {
  char** names = nullptr;
  int count = 0;
  LB_ORT_RETURN_IF_ERROR(library(), api().GetAvailableProviders(&names, &count),
                         "ONNX Runtime does not list its execution providers");
  std::vector<std::string> providers;
  for (int i = 0; i < count; ++i)
    providers.emplace_back(names[i]);
  if (auto* failure = api().ReleaseAvailableProviders(names, count)) api().ReleaseStatus(failure);
  return providers;
}

}  // namespace latebind::onnxruntime

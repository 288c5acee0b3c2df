// From a model's file to its first vector in stock ONNX Runtime, in a process of its own:
//
//   provider_start ONNXRUNTIME PROVIDER MODEL [KEY=VALUE…]
//
// PROVIDER is Latebind's, or "-" for the host's own CPU provider; KEY=VALUE are provider options. The host is opened,
// and has an environment, before the clock starts. Then: registration, a session for MODEL in f32 with two threads, and
// one run on the short text of bench/raw_import.cpp. Prints one JSON object: ms of all, of the registration, the
// session and the run, and the peak resident memory.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "bench/stock_host.h"
#include "core/platform/system_info.h"

using namespace latebind;  // NOLINT: a program of one file, all of it about this
using bench::die;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kThreads = 2;

double ms_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}

void run_once(const bench::StockHost& host, OrtSession* session) {
  // [CLS] … [SEP]
  std::array<std::int64_t, 8> ids{101, 1996, 4937, 7771, 2006, 1996, 13523, 102};
  std::array<std::int64_t, 8> mask{1, 1, 1, 1, 1, 1, 1, 1};
  const std::array<std::int64_t, 2> shape{1, 8};
  OrtMemoryInfo* memory = nullptr;
  host.check(host->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  std::array<OrtValue*, 2> inputs{};
  for (const auto& [data, value] : {std::pair{&ids, &inputs[0]}, std::pair{&mask, &inputs[1]}}) {
    host.check(host->CreateTensorWithDataAsOrtValue(memory, data->data(), sizeof *data, shape.data(), shape.size(),
                                                    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, value));
  }
  const std::array<const char*, 2> names{"input_ids", "attention_mask"};
  OrtAllocator* allocator = nullptr;
  host.check(host->GetAllocatorWithDefaultOptions(&allocator));
  char* output_name = nullptr;
  host.check(host->SessionGetOutputName(session, 0, allocator, &output_name));
  OrtValue* output = nullptr;
  host.check(host->Run(session, nullptr, names.data(), inputs.data(), inputs.size(), &output_name, 1, &output));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) die("usage: provider_start ONNXRUNTIME PROVIDER MODEL [KEY=VALUE…]");
  const std::string provider = argv[2];
  std::vector<std::pair<std::string, std::string>> settings{{"precision", "f32"},
                                                            {"threads", std::to_string(kThreads)}};
  for (int i = 4; i < argc; ++i) {
    const std::string setting = argv[i];
    const auto equals = setting.find('=');
    if (equals == std::string::npos) die("'" + setting + "' is not KEY=VALUE");
    settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  const bench::StockHost host(argv[1]);

  const auto begin = Clock::now();
  const bool is_latebind = provider != "-";
  const auto devices = is_latebind ? host.latebind(argv[2]) : std::vector<const OrtEpDevice*>();
  const auto registered = Clock::now();
  OrtSessionOptions* options = host.options(is_latebind ? 1 : kThreads, devices, settings);
  OrtSession* session = nullptr;
  host.check(host->CreateSession(host.env(), argv[3], options, &session));
  const auto made = Clock::now();
  run_once(host, session);
  const auto end = Clock::now();
  fmt::print(
      "{{\"ms\": {:.1f}, \"register_ms\": {:.1f}, \"session_ms\": {:.1f}, \"first_run_ms\": {:.1f}, \"rss_mb\": "
      "{:.1f}}}\n",
      ms_between(begin, end), ms_between(begin, registered), ms_between(registered, made), ms_between(made, end),
      static_cast<double>(platform::peak_resident_bytes()) / (1 << 20));
  std::fflush(stdout);
  // Not by _Exit: what was compiled is kept on the way out.
  host->ReleaseSession(session);
  host->ReleaseSessionOptions(options);
}

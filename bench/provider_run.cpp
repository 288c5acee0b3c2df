// What ONNX Runtime and Latebind's provider in it cost for one run of a model of three nodes, over Latebind's own run:
//
//   provider_run ONNXRUNTIME PROVIDER
//
// Rounds of both take turns in one process, one thread, memory of the caller's for inputs and outputs on both sides,
// and the host's CPU provider as a third. Prints one JSON object: the median of the rounds' means in µs for each, and
// of their differences.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/stock_host.h"
#include "latebind/latebind.hpp"
#include "tests/support/onnx_builder.h"

namespace {

using latebind::bench::die;
using latebind::bench::StockHost;

constexpr int kRounds = 41;
constexpr int kRuns = 2000;

template <class T>
T good(latebind::Result<T> result) {
  if (!result.ok()) die(result.status().message());
  return *std::move(result);
}

// y = relu(x + x) * x
std::string model() {
  const latebind::test::OnnxDims dims{std::int64_t{1}, std::int64_t{8}};
  return latebind::test::OnnxBuilder()
      .input("x", latebind::core::ElementType::kF32, dims)
      .output("y", latebind::core::ElementType::kF32, dims)
      .node("Add", {"x", "x"}, {"a"})
      .node("Relu", {"a"}, {"b"})
      .node("Mul", {"b", "x"}, {"y"})
      .bytes();
}

OrtSession* session_of(const StockHost& host, const std::string& bytes,
                       const std::vector<const OrtEpDevice*>& devices) {
  OrtSessionOptions* options = host.options(1, devices, {{"threads", "1"}, {"precision", "f32"}});
  OrtSession* session = nullptr;
  host.check(host->CreateSessionFromArray(host.env(), bytes.data(), bytes.size(), options, &session));
  host->ReleaseSessionOptions(options);
  return session;
}

template <class Run>
double mean_us(const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kRuns; ++i)
    run();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / kRuns;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) die("usage: provider_run ONNXRUNTIME PROVIDER");
  const StockHost host(argv[1]);
  const std::string bytes = model();
  const auto ours = host.latebind(argv[2]);

  std::array<float, 8> x{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<float, 8> y{};
  const std::array<std::int64_t, 2> shape{1, 8};
  OrtMemoryInfo* memory = nullptr;
  host.check(host->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  OrtValue* input = nullptr;
  OrtValue* output = nullptr;
  for (const auto& [data, value] : {std::pair{&x, &input}, std::pair{&y, &output}}) {
    host.check(host->CreateTensorWithDataAsOrtValue(memory, data->data(), sizeof *data, shape.data(), shape.size(),
                                                    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, value));
  }
  OrtSession* through = session_of(host, bytes, ours);
  OrtSession* on_cpu = session_of(host, bytes, {});
  const auto run_session = [&](OrtSession* session) {
    const char* in = "x";
    const char* out = "y";
    host.check(host->Run(session, nullptr, &in, &input, 1, &out, 1, &output));
  };

  latebind::Options options;
  options.set("threads", "1").set("precision", "f32").set("device", "openvino:CPU");
  const auto runtime = good(latebind::Runtime::create(options));
  lb_model* raw = nullptr;
  auto source = LB_INIT(lb_model_memory);
  source.format = LB_FORMAT_ONNX;
  source.graph = bytes.data();
  source.graph_size = bytes.size();
  if (lb_model_load_memory(runtime.get(), &source, options.get(), nullptr, &raw) != LB_OK)
    die("the model does not load");
  auto made = good(latebind::Output::create());
  lb_tensor tensor{};
  tensor.data = x.data();
  tensor.type = LB_F32;
  tensor.rank = 2;
  std::ranges::copy(shape, tensor.shape);
  lb_output* handle = made.get();
  const auto run_alone = [&] {
    if (lb_output_bind(handle, y.data(), sizeof y) != LB_OK) die("the output is not taken");
    const auto call = LB_INIT(lb_call_options);
    if (lb_model_run(raw, &tensor, 1, &handle, 1, &call) != LB_OK) die("the model does not run");
  };

  std::vector<double> provider;
  std::vector<double> alone;
  std::vector<double> cpu;
  std::vector<double> over;
  for (int round = -1; round < kRounds; ++round) {
    const double with_host = mean_us([&] { run_session(through); });
    const double without = mean_us(run_alone);
    const double stock = mean_us([&] { run_session(on_cpu); });
    if (round < 0) continue;  // warms up
    provider.push_back(with_host);
    alone.push_back(without);
    cpu.push_back(stock);
    over.push_back(with_host - without);
  }
  fmt::print("{{\"provider_us\": {:.2f}, \"latebind_us\": {:.2f}, \"host_cpu_us\": {:.2f}, \"overhead_us\": {:.2f}}}\n",
             median(provider), median(alone), median(cpu), median(over));
  lb_model_destroy(raw);
  host->ReleaseSession(through);
  host->ReleaseSession(on_cpu);
  host->ReleaseValue(input);
  host->ReleaseValue(output);
  host->ReleaseMemoryInfo(memory);
}

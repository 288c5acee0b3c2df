// The yardstick: the same work with nothing but OpenVINO's C interface, as a careful user of it would write it.
//
//   raw_openvino LIBRARY MODEL.onnx MODEL_DIR CORPUS PRECISION [REPEAT=2] [SINGLES=200]
//
// Texts are tokenised (by Latebind's tokenizer: OpenVINO's C interface has none), sorted by length, batched by 2,048
// tokens and run on one request a thread, two threads, from text to vector; then single texts are run with the latency
// hint, from ids to vector. MODEL.onnx is what `latebind export` writes. Prints one JSON object.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "backends/openvino/handles.h"
#include "backends/openvino/load.h"
#include "core/platform/system_info.h"
#include "embedding/batching.h"
#include "embedding/tokenizer/tokenizer.h"

namespace {

using namespace latebind;  // NOLINT: a program of one file, all of it about this
using openvino::abi::Code;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kThreads = 2;
constexpr std::size_t kBatchTokens = 2048;
constexpr std::size_t kMaxTokens = 256;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void die(const std::string& why) {
  std::fputs(("raw_openvino: " + why + "\n").c_str(), stderr);
  std::exit(1);
}

class Session {
 public:
  Session(const openvino::Library& library, const char* model, const char* precision, bool latency)
      : library_(library), api_(library.api) {
    check(api_.ov_core_create(&core_), "ov_core_create");
    openvino::abi::Model* network = nullptr;
    check(api_.ov_core_read_model(core_, model, nullptr, &network), "ov_core_read_model");
    const std::string threads = std::to_string(kThreads);
    const std::string streams = latency ? "1" : threads;
    const auto start = Clock::now();
    check(api_.ov_core_compile_model(core_, network, "CPU", 8, &compiled_, "PERFORMANCE_HINT",
                                     latency ? "LATENCY" : "THROUGHPUT", "INFERENCE_PRECISION_HINT", precision,
                                     "NUM_STREAMS", streams.c_str(), "INFERENCE_NUM_THREADS", threads.c_str()),
          "ov_core_compile_model");
    compile_ms = seconds_since(start) * 1000;
    api_.ov_model_free(network);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    api_.ov_compiled_model_free(compiled_);
    api_.ov_core_free(core_);
  }

  openvino::InferRequestHandle request() const {
    openvino::abi::InferRequest* made = nullptr;
    check(api_.ov_compiled_model_create_infer_request(compiled_, &made), "ov_compiled_model_create_infer_request");
    return {api_, made};
  }

  // Runs `rows` texts of `width` tokens and copies the vectors out.
  void run(const openvino::InferRequestHandle& request, std::size_t rows, std::size_t width, std::int64_t* ids,
           std::int64_t* mask, std::vector<float>& out, bool async) const {
    std::int64_t dims[2] = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(width)};
    for (std::size_t i = 0; i < 2; ++i) {
      openvino::abi::Tensor* tensor = nullptr;
      check(api_.ov_tensor_create_from_host_ptr(library_.element_types.code_of(core::ElementType::kI64), {2, dims},
                                                i == 0 ? ids : mask, &tensor),
            "ov_tensor_create_from_host_ptr");
      check(api_.ov_infer_request_set_input_tensor_by_index(request.get(), i, tensor), "set_input_tensor");
      api_.ov_tensor_free(tensor);
    }
    if (async) {
      check(api_.ov_infer_request_start_async(request.get()), "ov_infer_request_start_async");
      check(api_.ov_infer_request_wait_for(request.get(), 3'600'000), "ov_infer_request_wait_for");
    } else {
      check(api_.ov_infer_request_infer(request.get()), "ov_infer_request_infer");
    }
    openvino::abi::Tensor* tensor = nullptr;
    void* data = nullptr;
    std::size_t bytes = 0;
    check(api_.ov_infer_request_get_output_tensor_by_index(request.get(), 0, &tensor), "get_output_tensor");
    check(api_.ov_tensor_data(tensor, &data), "ov_tensor_data");
    check(api_.ov_tensor_get_byte_size(tensor, &bytes), "ov_tensor_get_byte_size");
    out.resize(bytes / sizeof(float));
    std::memcpy(out.data(), data, bytes);
    api_.ov_tensor_free(tensor);
  }

  double compile_ms = 0;

 private:
  void check(Code code, const char* call) const {
    if (code != openvino::abi::kOk) die(fmt::format("{}: {} ({})", call, api_.ov_get_last_err_msg(), code));
  }

  const openvino::Library& library_;
  const openvino::abi::Api& api_;
  openvino::abi::Core* core_ = nullptr;
  openvino::abi::CompiledModel* compiled_ = nullptr;
};

std::vector<std::string> read_lines(const char* file) {
  std::ifstream in(file);
  if (!in) die(fmt::format("can not open {}", file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

struct Tokens {
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::uint32_t> lengths;
};

Tokens tokenize(const embedding::Tokenizer& tokenizer, const std::vector<std::string>& texts) {
  Tokens tokens;
  tokens.ids.resize(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto status = tokenizer.encode(texts[i], kMaxTokens, tokens.ids[i]);
    if (!status.ok()) die(status.to_string());
    tokens.lengths.push_back(static_cast<std::uint32_t>(tokens.ids[i].size()));
  }
  return tokens;
}

void pad(const Tokens& tokens, std::span<const std::uint32_t> rows, std::size_t width, std::vector<std::int64_t>& ids,
         std::vector<std::int64_t>& mask) {
  ids.assign(rows.size() * width, 0);
  mask.assign(rows.size() * width, 0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto& text = tokens.ids[rows[r]];
    std::copy(text.begin(), text.end(), ids.begin() + static_cast<std::ptrdiff_t>(r * width));
    std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(r * width), text.size(), 1);
  }
}

// One pass over all texts; seconds, and the vectors' sum so that nothing is left out.
double pass(const Session& session, std::vector<openvino::InferRequestHandle>& requests,
            const embedding::Tokenizer& tokenizer, const std::vector<std::string>& texts, double& sum) {
  const auto start = Clock::now();
  const Tokens tokens = tokenize(tokenizer, texts);
  const auto plan = embedding::plan_batches(tokens.lengths, {.tokens = kBatchTokens});
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  std::vector<double> sums(requests.size());
  for (std::size_t t = 0; t < requests.size(); ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::int64_t> ids;
      std::vector<std::int64_t> mask;
      std::vector<float> out;
      for (std::size_t i = next++; i < plan.batches.size(); i = next++) {
        const auto& batch = plan.batches[i];
        pad(tokens, std::span(plan.order).subspan(batch.first, batch.count), batch.width, ids, mask);
        session.run(requests[t], batch.count, batch.width, ids.data(), mask.data(), out, /*async=*/true);
        sums[t] = std::accumulate(out.begin(), out.end(), sums[t]);
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  return seconds_since(start);
}

std::vector<double> single_texts(const openvino::Library& library, char** argv, const Tokens& tokens,
                                 std::size_t count) {
  const Session session(library, argv[2], argv[5], /*latency=*/true);
  const auto request = session.request();
  std::vector<double> ms;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> mask;
  std::vector<float> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::uint32_t>(i * tokens.ids.size() / count);
    double took = 0;
    for (int run = 0; run < 2; ++run) {  // once to warm up
      const auto start = Clock::now();
      pad(tokens, {&row, 1}, tokens.lengths[row], ids, mask);
      session.run(request, 1, tokens.lengths[row], ids.data(), mask.data(), out, /*async=*/false);
      took = seconds_since(start) * 1000;
    }
    ms.push_back(took);
  }
  std::sort(ms.begin(), ms.end());
  return ms;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) die("LIBRARY MODEL.onnx MODEL_DIR CORPUS PRECISION [REPEAT=2] [SINGLES=200]");
  const auto library = openvino::open_library(argv[1]);
  if (!library.ok()) die(library.status().to_string());
  const auto tokenizer = embedding::Tokenizer::from_file(std::string(argv[3]) + "/tokenizer.json");
  if (!tokenizer.ok()) die(tokenizer.status().to_string());
  const auto texts = read_lines(argv[4]);
  if (texts.empty()) die("no text");
  const int repeat = argc > 6 ? std::max(1, std::atoi(argv[6])) : 2;
  const auto singles = static_cast<std::size_t>(argc > 7 ? std::max(0, std::atoi(argv[7])) : 200);

  double best = 0;
  double sum = 0;
  double compile_ms = 0;
  {
    const Session session(**library, argv[2], argv[5], /*latency=*/false);
    compile_ms = session.compile_ms;
    std::vector<openvino::InferRequestHandle> requests;
    for (std::size_t i = 0; i < kThreads; ++i)
      requests.push_back(session.request());
    for (int i = 0; i < repeat; ++i) {
      const double seconds = pass(session, requests, *tokenizer, texts, sum);
      if (i == 0 || seconds < best) best = seconds;
    }
  }
  const double rss_mb = static_cast<double>(platform::peak_resident_bytes()) / (1 << 20);
  const Tokens tokens = tokenize(*tokenizer, texts);
  const auto total = std::accumulate(tokens.lengths.begin(), tokens.lengths.end(), std::uint64_t{0});
  double p50 = 0;
  double p99 = 0;
  if (singles > 0) {
    const auto ms = single_texts(**library, argv, tokens, singles);
    p50 = ms[(ms.size() - 1) / 2];
    p99 = ms[(ms.size() - 1) * 99 / 100];
  }
  fmt::print(
      "{{\"texts_per_s\": {:.1f}, \"tokens_per_s\": {:.0f}, \"p50_ms\": {:.3f}, \"p99_ms\": {:.3f}, \"rss_mb\": "
      "{:.1f}, "
      "\"compile_ms\": {:.1f}, \"precision\": \"{}\", \"checksum\": {:.4f}}}\n",
      static_cast<double>(texts.size()) / best, static_cast<double>(total) / best, p50, p99, rss_mb, compile_ms,
      argv[5], sum);
  return 0;
}

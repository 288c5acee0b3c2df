// The yardstick: the same work with nothing but OpenVINO's C interface, as a careful user of it would write it.
//
//   raw_openvino LIBRARY MODEL.onnx MODEL_DIR CORPUS PRECISION [REPEAT=2 [MAX_TOKENS=256]]
//
// Texts are tokenised (by Latebind's tokenizer: OpenVINO's C interface has none), sorted by length, batched by 2,048
// tokens and run on one request a thread, two threads, from text to vector. MODEL.onnx is what `latebind export`
// writes. Prints one JSON object.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "bench/raw_session.h"
#include "core/platform/system_info.h"
#include "embedding/schedule/batching.h"

namespace {

using namespace latebind;         // NOLINT: a program of one file, all of it about this
using namespace latebind::bench;  // NOLINT

constexpr std::size_t kBatchTokens = 2048;

// One pass over all texts; seconds, and the vectors' sum so that nothing is left out.
double pass(const Session& session, std::vector<openvino::InferRequestHandle>& requests,
            const embedding::Tokenizer& tokenizer, const std::vector<std::string>& texts, std::size_t max_tokens,
            double& sum) {
  const auto start = Clock::now();
  const Tokens tokens = tokenize(tokenizer, texts, max_tokens);
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
        session.run(requests[t], batch.count, batch.width, std::array{ids.data(), mask.data()}, out, /*async=*/true);
        sums[t] = std::accumulate(out.begin(), out.end(), sums[t]);
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  return seconds_since(start);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) die("usage: raw_openvino LIBRARY MODEL.onnx MODEL_DIR CORPUS PRECISION [REPEAT=2 [MAX_TOKENS=256]]");
  const auto library = openvino::open_library(argv[1]);
  if (!library.ok()) die(library.status().to_string());
  const auto tokenizer = embedding::Tokenizer::from_file(std::string(argv[3]) + "/tokenizer.json");
  if (!tokenizer.ok()) die(tokenizer.status().to_string());
  const auto texts = read_lines(argv[4]);
  const int repeat = argc > 6 ? std::max(1, std::atoi(argv[6])) : 2;
  const std::size_t max_tokens = argc > 7 ? std::strtoul(argv[7], nullptr, 10) : kMaxTokens;

  const Session session(**library, argv[2], argv[5], /*latency=*/false);
  std::vector<openvino::InferRequestHandle> requests;
  for (std::size_t i = 0; i < kThreads; ++i)
    requests.push_back(session.request());
  double best = 0;
  double sum = 0;
  for (int i = 0; i < repeat; ++i) {
    const double seconds = pass(session, requests, *tokenizer, texts, max_tokens, sum);
    if (i == 0 || seconds < best) best = seconds;
  }
  const double rss_mb = static_cast<double>(platform::peak_resident_bytes()) / (1 << 20);
  const Tokens tokens = tokenize(*tokenizer, texts, max_tokens);
  const auto total = std::accumulate(tokens.lengths.begin(), tokens.lengths.end(), std::uint64_t{0});
  fmt::print(
      "{{\"texts_per_s\": {:.1f}, \"tokens_per_s\": {:.0f}, \"rss_mb\": {:.1f}, \"compile_ms\": {:.1f}, "
      "\"precision\": \"{}\", \"checksum\": {:.4f}}}\n",
      static_cast<double>(texts.size()) / best, static_cast<double>(total) / best, rss_mb, session.compile_ms, argv[5],
      sum);
  return 0;
}

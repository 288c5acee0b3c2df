// Many threads that embed one text at a time, as a service does: whether texts that wait share a run.
//
//   concurrent_texts LIBRARY MODEL_DIR CORPUS [CALLERS=16] [TEXTS=1600] [HINT=latency] [ROUNDS=5]
//
// In each round the callers share out the same texts, twice: once in batches of their own, once with others' in a
// batch. Prints one JSON object: for each, the median of the rounds' texts a second and the percentiles of a call.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/yardstick.h"
#include "latebind/latebind.hpp"

namespace {

using namespace latebind;         // NOLINT: a program of one file, all of it about this
using namespace latebind::bench;  // NOLINT
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double percentile(std::vector<double> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * percent / 100];
}

// The texts, each embedded by the first free thread. Appends the milliseconds of every call.
double round_of(const Embedder& embedder, const std::vector<std::string>& texts, std::size_t callers, bool alone,
                std::vector<double>& calls) {
  std::vector<double> ms(texts.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (std::size_t caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&] {
      for (std::size_t text = next++; text < texts.size(); text = next++) {
        const auto begin = Clock::now();
        const auto vector = embedder.embed(texts[text], {.alone = alone});
        if (!vector) die(vector.status().message());
        ms[text] = seconds_since(begin) * 1000;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  const double seconds = seconds_since(start);
  calls.insert(calls.end(), ms.begin(), ms.end());
  return static_cast<double>(texts.size()) / seconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) die("usage: concurrent_texts LIBRARY MODEL_DIR CORPUS [CALLERS=16] [TEXTS=1600] [HINT=latency]");
  const auto callers = static_cast<std::size_t>(argc > 4 ? std::max(1, std::atoi(argv[4])) : 16);
  const auto count = static_cast<std::size_t>(argc > 5 ? std::max(1, std::atoi(argv[5])) : 1600);
  const std::string hint = argc > 6 ? argv[6] : "latency";
  const int rounds = argc > 7 ? std::max(1, std::atoi(argv[7])) : 5;

  std::vector<std::string> texts;
  std::ifstream corpus(argv[3]);
  for (std::string line; texts.size() < count && std::getline(corpus, line);)
    texts.push_back(line);
  if (texts.empty()) die("there is no text in the corpus");
  const auto runtime = Runtime::create({{"openvino.library", argv[1]}});
  if (!runtime) die(runtime.status().message());
  const auto embedder =
      runtime->open_embedder(argv[2], {{"device", "openvino:CPU"}, {"hint", hint}, {"strict", "true"}});
  if (!embedder) die(embedder.status().message());

  struct Kind {
    bool alone;
    std::vector<double> speeds{};
    std::vector<double> calls{};
  };
  Kind shared{.alone = false};
  Kind alone{.alone = true};
  (void)round_of(*embedder, texts, callers, false, shared.calls);
  shared.calls.clear();
  for (int round = 0; round < rounds; ++round) {
    for (Kind* kind : {&alone, &shared})
      kind->speeds.push_back(round_of(*embedder, texts, callers, kind->alone, kind->calls));
  }
  const auto json_of = [](const Kind& kind) {
    return fmt::format("{{\"texts_per_second\": {:.1f}, \"p50_ms\": {:.3f}, \"p99_ms\": {:.3f}}}",
                       percentile(kind.speeds, 50), percentile(kind.calls, 50), percentile(kind.calls, 99));
  };
  fmt::print("{{\"callers\": {}, \"texts\": {}, \"hint\": \"{}\", \"alone\": {}, \"shared\": {}}}\n", callers,
             texts.size(), hint, json_of(alone), json_of(shared));
  return 0;
}

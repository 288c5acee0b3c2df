// One text at a time, asked of a running daemon over HTTP and embedded in this process, in turn: what the daemon adds.
//
//   lone_text LIBRARY MODEL_DIR CORPUS PORT [TEXTS=400]
//
// The daemon serves the same model, called "model", at 127.0.0.1:PORT without a key; both have the latency hint. Each
// text is run once by each before it is timed. Prints one JSON object, in milliseconds; `extra_p50_ms` is the median of
// the differences text by text.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "bench/die.h"
#include "bench/http_client.h"
#include "latebind/latebind.hpp"

namespace {

using namespace latebind;         // NOLINT: a program of one file, all of it about this
using namespace latebind::bench;  // NOLINT
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double percentile(std::vector<double> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * percent / 100];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) die("usage: lone_text LIBRARY MODEL_DIR CORPUS PORT [TEXTS=400]");
  const auto count = static_cast<std::size_t>(argc > 5 ? std::max(1, std::atoi(argv[5])) : 400);
  std::vector<std::string> texts;
  std::ifstream corpus(argv[3]);
  for (std::string line; std::getline(corpus, line);) {
    if (!line.empty()) texts.push_back(line);
  }
  if (texts.empty()) die("there is no text in the corpus");
  const auto runtime = Runtime::create({{"openvino.library", argv[1]}});
  if (!runtime) die(runtime.status().message());
  const auto embedder =
      runtime->open_embedder(argv[2], {{"device", "openvino:CPU"}, {"hint", "latency"}, {"strict", "true"}});
  if (!embedder) die(embedder.status().message());
  HttpClient client(std::atoi(argv[4]));

  std::vector<double> asked;
  std::vector<double> embedded;
  std::vector<double> extra;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& text = texts[i * texts.size() / count];
    const std::string request = embeddings_request({&text, 1});
    const auto ask = [&] {
      const auto start = Clock::now();
      if (client.ask(request) != 200) die(client.answer());
      return ms_since(start);
    };
    const auto embed = [&] {
      const auto start = Clock::now();
      if (const auto vector = embedder->embed(text); !vector) die(vector.status().message());
      return ms_since(start);
    };
    ask();
    embed();
    for (int round = 0; round < 4; ++round) {  // who is first finds the caches as the other left them
      double here = 0;
      if (round % 2 == 0) here = embed();
      asked.push_back(ask());
      if (round % 2 != 0) here = embed();
      embedded.push_back(here);
      extra.push_back(asked.back() - here);
    }
  }
  fmt::print(
      "{{\"daemon_p50_ms\": {:.3f}, \"in_process_p50_ms\": {:.3f}, \"extra_p50_ms\": {:.3f}, \"daemon_p95_ms\": "
      "{:.3f}, "
      "\"in_process_p95_ms\": {:.3f}}}\n",
      percentile(asked, 50), percentile(embedded, 50), percentile(extra, 50), percentile(asked, 95),
      percentile(embedded, 95));
  return 0;
}

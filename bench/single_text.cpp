// One text at a time, ours beside OpenVINO's C interface alone, in one process and in turn: what comes from a shared
// machine hits both alike.
//
//   single_text LIBRARY MODEL.onnx MODEL_DIR CORPUS PRECISION [TEXTS=200] [ROUNDS=4] [DEVICE=openvino:CPU]
//   [OURS=PRECISION]
//
// DEVICE and OURS are ours: what computes, and in which precision.
// Both have the latency hint and two threads. Each text is run once by each before it is timed. Ours goes from text to
// vector, the other from token ids to vector: the tokenizer is ours to answer for. Prints one JSON object.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/raw_session.h"
#include "latebind/latebind.hpp"

namespace {

using namespace latebind;         // NOLINT: a program of one file, all of it about this
using namespace latebind::bench;  // NOLINT

double percentile(std::vector<double> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * percent / 100];
}

Embedder open_ours(const std::string& library, const std::string& model, const std::string& device,
                   const std::string& precision) {
  const auto runtime = Runtime::create({{"openvino.library", library}});
  if (!runtime) die(runtime.status().message());
  auto embedder = runtime->open_embedder(
      model, {{"device", device}, {"precision", precision}, {"threads", std::to_string(kThreads)}, {"strict", "true"}});
  if (!embedder) die(embedder.status().message());
  return *std::move(embedder);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6)
    die("usage: single_text LIBRARY MODEL.onnx MODEL_DIR CORPUS PRECISION [TEXTS=200] [ROUNDS=4] [DEVICE] [OURS]");
  const auto library = openvino::open_library(argv[1]);
  if (!library.ok()) die(library.status().to_string());
  const auto tokenizer = embedding::Tokenizer::from_file(std::string(argv[3]) + "/tokenizer.json");
  if (!tokenizer.ok()) die(tokenizer.status().to_string());
  const auto texts = read_lines(argv[4]);
  const Tokens tokens = tokenize(*tokenizer, texts);
  const auto count = static_cast<std::size_t>(argc > 6 ? std::max(1, std::atoi(argv[6])) : 200);
  const int rounds = argc > 7 ? std::max(1, std::atoi(argv[7])) : 4;

  const std::string our_precision = argc > 9 ? argv[9] : argv[5];
  const Embedder embedder = open_ours(argv[1], argv[3], argc > 8 ? argv[8] : "openvino:CPU", our_precision);
  const Session session(**library, argv[2], argv[5], /*latency=*/true);
  const auto request = session.request();
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> mask;
  std::vector<float> out;
  std::vector<double> ours;
  std::vector<double> raw;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::uint32_t>(i * texts.size() / count);
    const auto run_ours = [&] {
      const auto start = Clock::now();
      if (const auto vector = embedder.embed(texts[row]); !vector) die(vector.status().message());
      ours.push_back(seconds_since(start) * 1000);
    };
    const auto run_raw = [&] {
      const auto start = Clock::now();
      pad(tokens, {&row, 1}, tokens.lengths[row], ids, mask);
      session.run(request, 1, tokens.lengths[row], std::array{ids.data(), mask.data()}, out, /*async=*/false);
      raw.push_back(seconds_since(start) * 1000);
    };
    run_ours();
    run_raw();
    ours.pop_back();
    raw.pop_back();
    for (int round = 0; round < rounds; ++round) {  // who is first finds the caches as the other left them
      const bool ours_first = round % 2 == 0;
      if (ours_first) run_ours();
      run_raw();
      if (!ours_first) run_ours();
    }
  }
  const double ours_p50 = percentile(ours, 50);
  const double raw_p50 = percentile(raw, 50);
  fmt::print(
      "{{\"precision\": \"{}\", \"p50_ms\": {:.3f}, \"raw_p50_ms\": {:.3f}, \"p50_ratio\": {:.3f}, \"p99_ms\": {:.3f}, "
      "\"raw_p99_ms\": {:.3f}}}\n",
      our_precision, ours_p50, raw_p50, ours_p50 / raw_p50, percentile(ours, 99), percentile(raw, 99));
  return 0;
}

// Prints the lines of a file that are nearest to a question: the C++ interface on one page.
//
//   nearest MODEL_FOLDER FILE QUESTION
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "latebind/latebind.hpp"

namespace {

constexpr std::size_t kShown = 3;

int fail(const latebind::Status& status) {
  std::fprintf(stderr, "%s: %s\n", status.name(), status.message().c_str());
  return 1;
}

int run(const std::string& folder, const std::string& file, std::string_view question) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  if (!stream) {
    std::fprintf(stderr, "cannot open %s\n", file.c_str());
    return 1;
  }
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  if (lines.empty()) {
    std::fprintf(stderr, "%s: no lines\n", file.c_str());
    return 1;
  }

  const auto runtime = latebind::Runtime::create();
  if (!runtime) return fail(runtime.status());
  const auto embedder = runtime->open_embedder(folder, {{"hint", "throughput"}});
  if (!embedder) return fail(embedder.status());

  const std::vector<std::string_view> texts(lines.begin(), lines.end());
  const auto vectors = embedder->embed(texts);
  if (!vectors) return fail(vectors.status());
  const auto wanted = embedder->embed(question);
  if (!wanted) return fail(wanted.status());

  const std::size_t dimension = embedder->dimension();
  std::vector<double> scores(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const float* const row = vectors->data() + i * dimension;
    scores[i] = std::inner_product(row, row + dimension, wanted->begin(), 0.0);
  }
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  order.resize(std::min(order.size(), kShown));
  for (const std::size_t i : order)
    std::printf("%.4f  %s\n", scores[i], lines[i].c_str());

  const auto attestation = embedder->attestation();
  if (!attestation) return fail(attestation.status());
  std::printf("by %s:%s, %s\n", attestation->backend.c_str(), attestation->device.c_str(),
              attestation->precision.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL_FOLDER FILE QUESTION\n", argv[0]);
    return 2;
  }
  return run(argv[1], argv[2], argv[3]);
}

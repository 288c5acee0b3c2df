// How long tokenizer.json files take to open: what bench/tokenizer_load.py runs beside the reference.
//
//   tokenizer_load FILE…
//
// Prints one line a file: the milliseconds of a single opening in this process.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "embedding/tokenizer/tokenizer.h"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto tokenizer = latebind::embedding::Tokenizer::from_file(argv[i]);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!tokenizer.ok()) {
      fmt::print(stderr, "{}\n", tokenizer.status().to_string());
      return 1;
    }
    fmt::print("{:.2f}\n", took.count());
  }
  return 0;
}

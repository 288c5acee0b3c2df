// How long tokenizer.json files take to open: what bench/tokenizer_load.py runs beside the reference.
//
//   tokenizer_load FILE…
//
// Prints one line a file: the milliseconds of a single opening in this process, then those of processor time on all
// threads and on this one. Where other work keeps the processors busy, the last two say more: the opening takes as long
// as this thread's, where another processor is free.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>

#include "embedding/tokenizer/tokenizer.h"

namespace {

double milliseconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const double start = milliseconds_of(CLOCK_MONOTONIC);
    const double all_start = milliseconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const double own_start = milliseconds_of(CLOCK_THREAD_CPUTIME_ID);
    const auto tokenizer = latebind::embedding::Tokenizer::from_file(argv[i]);
    const double took = milliseconds_of(CLOCK_MONOTONIC) - start;
    const double all = milliseconds_of(CLOCK_PROCESS_CPUTIME_ID) - all_start;
    const double own = milliseconds_of(CLOCK_THREAD_CPUTIME_ID) - own_start;
    if (!tokenizer.ok()) {
      fmt::print(stderr, "{}\n", tokenizer.status().to_string());
      return 1;
    }
    fmt::print("{:.2f} {:.2f} {:.2f}\n", took, all, own);
  }
  return 0;
}

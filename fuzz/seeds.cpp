// Runs a fuzz target once on each of its seeds, without a fuzzer: lb_fuzz_seeds TARGET FOLDER. Fails without a seed.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "seed_targets.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: lb_fuzz_seeds TARGET FOLDER\n", stderr);
    return 2;
  }
  const auto* const target = std::ranges::find(kTargets, std::string_view(argv[1]), &Target::name);
  if (target == kTargets.end()) {
    std::fprintf(stderr, "there is no fuzz target '%s'\n", argv[1]);
    return 2;
  }
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[2])) {
    // The name of the seed that ends the program is the last line.
    std::fprintf(stderr, "%s\n", entry.path().filename().c_str());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (!file) return 1;
    (void)target->run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++count;
  }
  return count > 0 ? 0 : 1;
}

// Whether fmt_library.cpp has what programs ask of this version of fmt.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string>
#include <vector>

int main() {
  const std::vector<std::string> words{"a", "b"};
  const std::string text = fmt::format("{} {:.3f} {} {:>10} {:x} {}\n", -1, 2.5, fmt::join(words, ","), 3U, 4ULL, 1.5F);
  return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
}

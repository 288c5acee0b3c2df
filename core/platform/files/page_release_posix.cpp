#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/platform/files/page_release_os.h"

namespace latebind::platform {
namespace {

// "7f0a…-7f0b… r--p 00000000 fe:00 1234 /path": the first line of a mapping in /proc/self/smaps.
struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool of_a_file = false;
  bool read_only = false;
};

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

// Nothing for the lines that tell more about the mapping before them.
std::optional<Mapping> parse_mapping(std::string_view line) {
  Mapping mapping;
  const std::string_view range = next_word(line);
  const auto [dash, first] = std::from_chars(range.data(), range.data() + range.size(), mapping.begin, 16);
  if (first != std::errc() || dash == range.data() + range.size() || *dash != '-') return std::nullopt;
  if (std::from_chars(dash + 1, range.data() + range.size(), mapping.end, 16).ec != std::errc()) return std::nullopt;
  const std::string_view rights = next_word(line);
  mapping.read_only = rights.starts_with("r-");
  next_word(line);  // where in the file
  next_word(line);  // the file's disk
  mapping.of_a_file = next_word(line) != "0";
  return mapping;
}

// Checked first, because it is quick: the system looks at every page for what it tells in smaps.
bool touches_unwritable_file(std::uintptr_t begin, std::uintptr_t end) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto mapping = parse_mapping(line);
    if (!mapping || mapping->begin >= end) return false;
    if (mapping->end > begin && mapping->of_a_file && mapping->read_only) return true;
  }
  return false;
}

// "Anonymous:             4 kB": pages that are not the file's any more.
bool tells_of_own_pages(std::string_view line) {
  const std::string_view key = next_word(line);
  return (key == "Anonymous:" || key == "Swap:" || key == "Private_Hugetlb:") && next_word(line) != "0";
}

}  // namespace

std::vector<std::span<const std::byte>> unwritten_file_parts(std::span<const std::byte> bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t end = begin + bytes.size();
  std::vector<std::span<const std::byte>> parts;
  if (!touches_unwritable_file(begin, end)) return parts;
  std::optional<Mapping> mapping;  // that the lines describe, when it is a read-only mapping of a file
  bool is_unwritten = false;       // its line on pages was there, and there are none
  const auto take = [&] {
    if (!mapping || !is_unwritten) return;
    const std::uintptr_t from = std::max(begin, mapping->begin);
    const std::uintptr_t to = std::min(end, mapping->end);
    if (from < to) parts.push_back(bytes.subspan(from - begin, to - from));
  };
  std::ifstream smaps("/proc/self/smaps");
  for (std::string line; std::getline(smaps, line);) {
    if (const auto next = parse_mapping(line)) {
      take();
      if (next->begin >= end) return parts;
      is_unwritten = false;
      mapping = next->end > begin && next->of_a_file && next->read_only ? next : std::nullopt;
    } else if (line.starts_with("Anonymous:")) {
      is_unwritten = !tells_of_own_pages(line);
    } else if (tells_of_own_pages(line)) {
      mapping.reset();
    }
  }
  take();
  return parts;
}

void drop_pages(std::span<const std::byte> part) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(part.data()) % page) % page;
  if (part.size() < before + page) return;
  const auto pages = part.subspan(before, (part.size() - before) / page * page);
  ::madvise(const_cast<std::byte*>(pages.data()), pages.size(), MADV_DONTNEED);
}

}  // namespace latebind::platform

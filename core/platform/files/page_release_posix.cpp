#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

// A line of /proc/self/maps: "7f0a…-7f0b… r--p 00000000 fe:00 1234 /path".
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

std::optional<Mapping> parse_mapping(std::string_view line) {
  Mapping mapping;
  const std::string_view range = next_word(line);
  const auto [dash, first] = std::from_chars(range.data(), range.data() + range.size(), mapping.begin, 16);
  if (first != std::errc() || dash == range.data() + range.size() || *dash != '-') return std::nullopt;
  if (std::from_chars(dash + 1, range.data() + range.size(), mapping.end, 16).ec != std::errc()) return std::nullopt;
  const std::string_view rights = next_word(line);
  mapping.read_only = rights.starts_with("r-");
  next_word(line);  // the offset in the file
  next_word(line);  // the file's device
  mapping.of_a_file = next_word(line) != "0";
  return mapping;
}

// Whether none of these pages is private to the process, as the pages of a private mapping are after a write.
// /proc/self/pagemap says for each page where it is; for smaps, the system would have to count the whole process.
bool is_all_the_files(std::uintptr_t begin, std::uintptr_t end) {
  constexpr std::uint64_t kPresent = std::uint64_t{1} << 63U;
  constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62U;
  constexpr std::uint64_t kOfAFile = std::uint64_t{1} << 61U;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const int file = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<std::uint64_t, 4096> entries{};
  std::uintptr_t next = begin / page;
  const std::uintptr_t last = (end + page - 1) / page;
  bool is_all = true;
  while (is_all && next < last) {
    const std::size_t wanted = std::min<std::size_t>(entries.size(), last - next);
    const ::ssize_t read =
        ::pread(file, entries.data(), wanted * sizeof entries[0], static_cast<::off_t>(next * sizeof entries[0]));
    const std::size_t count = read > 0 ? static_cast<std::size_t>(read) / sizeof entries[0] : 0;
    is_all = count > 0 && std::none_of(entries.begin(), entries.begin() + count, [](std::uint64_t entry) {
               return (entry & (kPresent | kSwapped)) != 0 && (entry & kOfAFile) == 0;
             });
    next += count;
  }
  ::close(file);
  return is_all;
}

}  // namespace

std::vector<std::span<const std::byte>> unwritten_file_parts(std::span<const std::byte> bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t end = begin + bytes.size();
  std::vector<std::span<const std::byte>> parts;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto mapping = parse_mapping(line);
    if (!mapping || mapping->begin >= end) break;
    const std::uintptr_t from = std::max(begin, mapping->begin);
    const std::uintptr_t to = std::min(end, mapping->end);
    if (from >= to || !mapping->of_a_file || !mapping->read_only) continue;
    // The check covers the whole mapping, because a page that was written to anywhere is somebody's memory.
    if (is_all_the_files(mapping->begin, mapping->end)) parts.push_back(bytes.subspan(from - begin, to - from));
  }
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

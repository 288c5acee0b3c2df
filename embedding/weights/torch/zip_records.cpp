#include "embedding/weights/torch/zip_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "core/text/quote.h"

namespace latebind::embedding {
namespace {

using core::PartReader;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::uint32_t kEnd = 0x06054B50;
constexpr std::uint32_t kEnd64 = 0x06064B50;
constexpr std::uint32_t kLocator64 = 0x07064B50;
constexpr std::uint32_t kCentral = 0x02014B50;
constexpr std::uint32_t kLocal = 0x04034B50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocator64Size = 20;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kLocalSize = 30;
constexpr std::uint64_t kElsewhere = 0xFFFFFFFF;
constexpr std::uint64_t kElsewhere16 = 0xFFFF;
constexpr std::uint64_t kZip64Field = 1;
constexpr std::uint64_t kEncrypted = 1;
constexpr std::uint64_t kDirectoryBytesMax = std::uint64_t{16} << 20;
constexpr std::uint64_t kRecordsMax = 100'000;

// Fields of a structure that was read whole; little-endian.
std::uint64_t zip_field(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i-- > 0;)
    value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

Status bad_zip(std::string_view what) {
  return {StatusCode::kInvalidModel, fmt::format("not a ZIP of torch.save(), or damaged: {}", what)};
}

Status bad_record(std::string_view name, std::string_view what, StatusCode code = StatusCode::kInvalidModel) {
  return {code, fmt::format("the record {} {}", core::quoted(name), what)};
}

Result<std::string> read_bytes(const PartReader& file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (!file.read(offset, std::as_writable_bytes(std::span(bytes)))) return file.why_not();
  return bytes;
}

struct ZipDirectory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t records = 0;
};

Result<ZipDirectory> find_directory(const PartReader& file, std::uint64_t size) {
  if (size < kEndSize) return bad_zip(fmt::format("only {} bytes long", size));
  LB_ASSIGN_OR_RETURN(const std::string end, read_bytes(file, size - kEndSize, kEndSize));
  if (zip_field(end, 0, 4) != kEnd || zip_field(end, 20, 2) != 0)
    return bad_zip("its end is missing; is it cut short?");
  if (zip_field(end, 4, 2) != 0 || zip_field(end, 6, 2) != 0) return bad_zip("a part of a split ZIP");
  ZipDirectory found{.offset = zip_field(end, 16, 4), .size = zip_field(end, 12, 4), .records = zip_field(end, 10, 2)};
  std::uint64_t limit = size - kEndSize;
  const bool is_64 = found.offset == kElsewhere || found.size == kElsewhere || found.records == kElsewhere16;
  if (is_64) {
    if (limit < kLocator64Size + kEnd64Size) return bad_zip("its Zip64 end is missing");
    LB_ASSIGN_OR_RETURN(const std::string locator, read_bytes(file, limit - kLocator64Size, kLocator64Size));
    if (zip_field(locator, 0, 4) != kLocator64) return bad_zip("its Zip64 end is missing");
    const std::uint64_t at = zip_field(locator, 8, 8);
    limit -= kLocator64Size;
    if (at > limit || limit - at < kEnd64Size) return bad_zip("its Zip64 end is outside");
    LB_ASSIGN_OR_RETURN(const std::string end64, read_bytes(file, at, kEnd64Size));
    if (zip_field(end64, 0, 4) != kEnd64) return bad_zip("its Zip64 end is missing");
    found = {.offset = zip_field(end64, 48, 8), .size = zip_field(end64, 40, 8), .records = zip_field(end64, 32, 8)};
    limit = at;
  }
  if (found.offset > limit || limit - found.offset < found.size) return bad_zip("its directory is outside");
  if (found.size > kDirectoryBytesMax || found.records > kRecordsMax) {
    return bad_zip(fmt::format("{} records in a directory of {} bytes, at most {} and {} are read", found.records,
                               found.size, kRecordsMax, kDirectoryBytesMax));
  }
  return found;
}

struct CentralEntry {
  std::string_view name;
  std::uint64_t flags = 0;
  std::uint64_t method = 0;
  std::uint64_t stored_size = 0;
  std::uint64_t size = 0;
  std::uint64_t local = 0;  // where its local header is
};

// Replaces what is in the field for Zip64. Returns false if that is missing.
bool take_zip64(std::string_view extra, CentralEntry& entry) {
  std::optional<std::string_view> wide;
  while (extra.size() >= 4) {
    const auto size = static_cast<std::size_t>(zip_field(extra, 2, 2));
    if (extra.size() - 4 < size) break;
    if (zip_field(extra, 0, 2) == kZip64Field && !wide) wide = extra.substr(4, size);
    extra.remove_prefix(4 + size);
  }
  for (std::uint64_t* const value : {&entry.size, &entry.stored_size, &entry.local}) {
    if (*value != kElsewhere) continue;
    if (!wide || wide->size() < 8) return false;
    *value = zip_field(*wide, 0, 8);
    wide->remove_prefix(8);
  }
  return true;
}

// Reads the entry with which `directory` begins, and removes it from there.
Result<CentralEntry> read_entry(std::string_view& directory) {
  if (directory.size() < kCentralSize || zip_field(directory, 0, 4) != kCentral)
    return bad_zip("its directory is damaged");
  const auto name_size = static_cast<std::size_t>(zip_field(directory, 28, 2));
  const auto extra_size = static_cast<std::size_t>(zip_field(directory, 30, 2));
  const auto comment_size = static_cast<std::size_t>(zip_field(directory, 32, 2));
  if (directory.size() - kCentralSize < name_size + extra_size + comment_size) {
    return bad_zip("its directory is cut off");
  }
  CentralEntry entry{.name = directory.substr(kCentralSize, name_size),
                     .flags = zip_field(directory, 8, 2),
                     .method = zip_field(directory, 10, 2),
                     .stored_size = zip_field(directory, 20, 4),
                     .size = zip_field(directory, 24, 4),
                     .local = zip_field(directory, 42, 4)};
  if (!take_zip64(directory.substr(kCentralSize + name_size, extra_size), entry)) {
    return bad_record(entry.name, "lacks its Zip64 sizes");
  }
  directory.remove_prefix(kCentralSize + name_size + extra_size + comment_size);
  if ((entry.flags & kEncrypted) != 0) return bad_record(entry.name, "is encrypted", StatusCode::kUnsupported);
  if (entry.method == 0 && entry.size != entry.stored_size) return bad_record(entry.name, "has two sizes");
  return entry;
}

// The bytes of a record begin after its local header, whose length is in the header itself.
Result<ZipRecord> locate(const PartReader& file, const CentralEntry& entry, std::uint64_t limit) {
  if (entry.local > limit || limit - entry.local < kLocalSize) return bad_record(entry.name, "is outside of the file");
  LB_ASSIGN_OR_RETURN(const std::string local, read_bytes(file, entry.local, kLocalSize));
  const std::uint64_t name_size = zip_field(local, 26, 2);
  const std::uint64_t before = kLocalSize + name_size + zip_field(local, 28, 2);
  if (zip_field(local, 0, 4) != kLocal || zip_field(local, 8, 2) != entry.method || name_size != entry.name.size()) {
    return bad_record(entry.name, "differs between the directory and its own header");
  }
  if (limit - entry.local < before || limit - entry.local - before < entry.stored_size) {
    return bad_record(entry.name, "is outside of the file");
  }
  LB_ASSIGN_OR_RETURN(const std::string name, read_bytes(file, entry.local + kLocalSize, name_size));
  if (name != entry.name) return bad_record(entry.name, "differs between the directory and its own header");
  return ZipRecord{.name = name,
                   .offset = entry.local + before,
                   .size = entry.stored_size,
                   .method = static_cast<unsigned>(entry.method)};
}

}  // namespace

Result<std::vector<ZipRecord>> read_zip_records(const PartReader& file, std::uint64_t size) {
  LB_ASSIGN_OR_RETURN(const ZipDirectory directory, find_directory(file, size));
  LB_ASSIGN_OR_RETURN(const std::string bytes, read_bytes(file, directory.offset, directory.size));
  std::string_view rest = bytes;
  std::vector<ZipRecord> records;
  std::set<std::string_view> names;
  for (std::uint64_t i = 0; i < directory.records; ++i) {
    LB_ASSIGN_OR_RETURN(const CentralEntry entry, read_entry(rest));
    if (!names.insert(entry.name).second) return bad_record(entry.name, "occurs twice");
    LB_ASSIGN_OR_RETURN(records.emplace_back(), locate(file, entry, directory.offset));
  }
  if (!rest.empty()) return bad_zip("its directory has more than its records");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const ZipRecord& record : records)
    ranges.emplace_back(record.offset, record.offset + record.size);
  std::ranges::sort(ranges);
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) return bad_zip("two of its records overlap");
  }
  return records;
}

}  // namespace latebind::embedding

#include "core/bundle/zip_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/bundle/crc32.h"
#include "core/bundle/path_rules.h"
#include "core/bundle/refusals.h"
#include "core/bundle/zip_format.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"

namespace latebind::core {

// What the local header and the directory say about an entry.
struct ZipRecord {
  std::string_view name;
  bool is_folder = false;
  bool is_large = false;  // needs Zip64: for its size or, in the directory, also for its offset
  std::uint16_t flags = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
};

namespace {

using std::filesystem::path;
using Record = ZipRecord;

constexpr std::uint16_t kVersion = 20;    // 2.0: folders
constexpr std::uint16_t kVersion64 = 45;  // 4.5: Zip64
constexpr std::uint16_t kMadeOnUnix = 3U << 8U;
constexpr std::uint16_t kDate = (1U << 5U) | 1U;  // 1980-01-01, the format's first day; the time is zero
// An extra field has a head of 4 bytes. The alignment's field has 2 more bytes before the padding.
constexpr std::size_t kAlignmentFieldLeast = 6;

void append(std::string& out, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    out += static_cast<char>((value >> (8 * i)) & 0xFFU);
}
void append16(std::string& out, std::uint64_t value) {
  append(out, value, 2);
}
void append32(std::string& out, std::uint64_t value) {
  append(out, value, 4);
}
void append64(std::string& out, std::uint64_t value) {
  append(out, value, 8);
}

std::uint64_t shown32(std::uint64_t value, bool elsewhere) {
  return elsewhere ? zip::kElsewhere32 : value;
}

// Appends the fields from "version needed" to "uncompressed size", which both headers have.
void append_common(std::string& out, const Record& record, bool is_64, bool sizes_elsewhere) {
  append16(out, is_64 ? kVersion64 : kVersion);
  append16(out, record.flags);
  append16(out, zip::kMethodStored);
  append16(out, 0);
  append16(out, kDate);
  append32(out, record.crc32);
  append32(out, shown32(record.size, sizes_elsewhere));
  append32(out, shown32(record.size, sizes_elsewhere));
}

// Returns the bytes before the data, for an entry that begins at `record.offset`.
std::string local_header(const Record& record) {
  std::string zip64;
  if (record.is_large) {
    append16(zip64, zip::kExtraZip64);
    append16(zip64, 16);
    append64(zip64, record.size);
    append64(zip64, record.size);
  }
  const std::uint64_t without = record.offset + zip::kLocalBytes + record.name.size() + zip64.size();
  std::size_t field = static_cast<std::size_t>((zip::kAlignment - without % zip::kAlignment) % zip::kAlignment);
  if (field != 0 && field < kAlignmentFieldLeast) field += zip::kAlignment;

  std::string out;
  append32(out, zip::kLocalSignature);
  append_common(out, record, record.is_large, record.is_large);
  append16(out, record.name.size());
  append16(out, zip64.size() + field);
  out += record.name;
  out += zip64;
  if (field != 0) {
    append16(out, zip::kExtraAlignment);
    append16(out, field - 4);
    append16(out, zip::kAlignment);
    out.append(field - kAlignmentFieldLeast, '\0');
  }
  return out;
}

std::string central_header(const Record& record, bool always_zip64) {
  const bool offset_elsewhere = always_zip64 || record.offset >= zip::kElsewhere32;
  std::string zip64;
  if (record.is_large || offset_elsewhere) {
    append16(zip64, zip::kExtraZip64);
    append16(zip64, (record.is_large ? 16U : 0U) + (offset_elsewhere ? 8U : 0U));
    if (record.is_large) {
      append64(zip64, record.size);
      append64(zip64, record.size);
    }
    if (offset_elsewhere) append64(zip64, record.offset);
  }
  constexpr std::uint32_t kReadable = 0644;
  constexpr std::uint32_t kEnterable = 0755;
  const std::uint32_t mode = record.is_folder ? zip::kModeFolder | kEnterable : zip::kModeRegular | kReadable;
  std::string out;
  append32(out, zip::kCentralSignature);
  append16(out, kMadeOnUnix | (zip64.empty() ? kVersion : kVersion64));
  append_common(out, record, !zip64.empty(), record.is_large);
  append16(out, record.name.size());
  append16(out, zip64.size());
  append16(out, 0);  // comment
  append16(out, 0);  // disk
  append16(out, 0);  // internal attributes
  append32(out, (mode << 16U) | (record.is_folder ? zip::kDosFolder : 0U));
  append32(out, shown32(record.offset, offset_elsewhere));
  out += record.name;
  out += zip64;
  return out;
}

std::string end_records(std::uint64_t entries, std::uint64_t offset, std::uint64_t size, bool always_zip64) {
  const bool is_64 =
      always_zip64 || entries >= zip::kElsewhere16 || offset >= zip::kElsewhere32 || size >= zip::kElsewhere32;
  std::string out;
  if (is_64) {
    append32(out, zip::kEnd64Signature);
    append64(out, zip::kEnd64Bytes - 12);
    append16(out, kMadeOnUnix | kVersion64);
    append16(out, kVersion64);
    append32(out, 0);
    append32(out, 0);
    append64(out, entries);
    append64(out, entries);
    append64(out, size);
    append64(out, offset);
    append32(out, zip::kLocator64Signature);
    append32(out, 0);
    append64(out, offset + size);
    append32(out, 1);
  }
  append32(out, zip::kEndSignature);
  append16(out, 0);
  append16(out, 0);
  append16(out, is_64 ? zip::kElsewhere16 : entries);
  append16(out, is_64 ? zip::kElsewhere16 : entries);
  append32(out, shown32(size, is_64));
  append32(out, shown32(offset, is_64));
  append16(out, 0);
  return out;
}

Status check_names(std::span<const ZipInput> entries) {
  std::vector<std::string_view> files;
  std::vector<std::string_view> folders;
  for (const ZipInput& entry : entries) {
    const std::string_view name = entry.name;
    const bool is_folder = name.ends_with('/');
    const std::string_view place = is_folder ? name.substr(0, name.size() - 1) : name;
    LB_RETURN_IF_ERROR(check_package_path(place, "a ZIP's entry"));
    (is_folder ? folders : files).push_back(place);
  }
  return check_distinct_paths(files, folders, "a ZIP's entries");
}

Record record_of(const ZipInput& entry, std::uint64_t offset, bool always_zip64) {
  Record record;
  record.name = entry.name;
  record.is_folder = entry.name.ends_with('/');
  const bool is_ascii = std::ranges::all_of(entry.name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  record.flags = is_ascii ? std::uint16_t{0} : zip::kFlagUtf8;
  for (const SharedBytes& part : entry.parts) {
    record.size += part.bytes.size();
    record.crc32 = crc32(part.bytes, record.crc32);
  }
  record.offset = offset;
  record.is_large = always_zip64 || record.size >= zip::kElsewhere32;
  return record;
}

}  // namespace

ZipImage::ZipImage() = default;
ZipImage::ZipImage(ZipImage&& other) noexcept = default;
ZipImage& ZipImage::operator=(ZipImage&& other) noexcept = default;
ZipImage::~ZipImage() = default;

Result<ZipImage> ZipImage::lay_out(std::vector<ZipInput> entries, const ZipWriteOptions& options) {
  LB_RETURN_IF_ERROR(as_argument(check_names(entries)));
  if (entries.size() > zip::kEntriesMax) {
    return Status(StatusCode::kInvalidArgument, fmt::format("cannot write {} entries into one ZIP: the limit is {}",
                                                            entries.size(), zip::kEntriesMax));
  }
  ZipImage image;
  image.entries_ = std::move(entries);
  std::string directory;
  for (const ZipInput& entry : image.entries_) {
    const Record& record = image.records_.emplace_back(record_of(entry, image.size_, options.always_zip64));
    image.size_ += local_header(record).size() + record.size;
    directory += central_header(record, options.always_zip64);
  }
  if (directory.size() > zip::kDirectoryBytesMax) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot write a ZIP with a directory of {} bytes: the limit is {}", directory.size(),
                              zip::kDirectoryBytesMax));
  }
  image.end_ = directory + end_records(image.entries_.size(), image.size_, directory.size(), options.always_zip64);
  image.size_ += image.end_.size();
  return image;
}

Status ZipImage::write(const Sink& sink) const {
  const auto text = [&](const std::string& bytes) { return sink(std::as_bytes(std::span(bytes))); };
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    LB_RETURN_IF_ERROR(text(local_header(records_[i])));
    for (const SharedBytes& part : entries_[i].parts)
      LB_RETURN_IF_ERROR(sink(part.bytes));
  }
  return text(end_);
}

Status write_zip(const path& file, std::span<const ZipInput> entries, const ZipWriteOptions& options,
                 const std::function<Status()>& may_replace) {
  LB_ASSIGN_OR_RETURN(const ZipImage image, ZipImage::lay_out({entries.begin(), entries.end()}, options));
  std::error_code error;
  const path full = std::filesystem::absolute(file, error);
  if (!error) platform::remove_abandoned_outputs(full.parent_path());
  LB_ASSIGN_OR_RETURN(platform::OutputFile output, platform::OutputFile::create(file));
  LB_RETURN_IF_ERROR(image.write([&](std::span<const std::byte> bytes) { return output.write(bytes); }));
  if (may_replace) LB_RETURN_IF_ERROR(may_replace());
  return output.commit();
}

}  // namespace latebind::core

#include "core/bundle/zip_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/bundle/crc32.h"
#include "core/bundle/path_rules.h"
#include "core/bundle/zip_format.h"
#include "core/platform/system_info.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

using Bytes = std::span<const std::byte>;

std::uint64_t little_endian(Bytes bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i > 0; --i)
    value = (value << 8U) | std::to_integer<std::uint64_t>(bytes[at + i - 1]);
  return value;
}

std::uint16_t u16(Bytes bytes, std::size_t at) {
  return static_cast<std::uint16_t>(little_endian(bytes, at, 2));
}
std::uint32_t u32(Bytes bytes, std::size_t at) {
  return static_cast<std::uint32_t>(little_endian(bytes, at, 4));
}
std::uint64_t u64(Bytes bytes, std::size_t at) {
  return little_endian(bytes, at, 8);
}

std::string_view name_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One entry, as the directory or its local header describes it.
struct Header {
  std::string_view name;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t stored_size = 0;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  // of the local header
  std::uint32_t attributes = 0;
  std::uint64_t data = 0;  // where the data begins
};

struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t entries = 0;
};

// Reads one archive. Every offset is checked before it is used.
class Parser {
 public:
  Parser(Bytes file, std::string_view name) : file_(file), name_(name) {}

  Result<std::vector<Header>> parse() {
    LB_ASSIGN_OR_RETURN(const Directory directory, find_directory());
    LB_ASSIGN_OR_RETURN(std::vector<Header> headers, read_directory(directory));
    for (Header& header : headers) {
      LB_RETURN_IF_ERROR(check_entry(header));
      LB_RETURN_IF_ERROR(check_local(header, directory.begin));
    }
    LB_RETURN_IF_ERROR(check_tiling(headers, directory.begin));
    return headers;
  }

 private:
  [[nodiscard]] Status invalid(std::string_view what) const {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: {}", name_, what));
  }
  [[nodiscard]] Status invalid(const Header& header, std::string_view what) const {
    return invalid(fmt::format("the entry '{}' {}", printable(header.name), what));
  }

  Result<Directory> find_directory() const {
    if (file_.size() < zip::kEndBytes || u32(file_, file_.size() - zip::kEndBytes) != zip::kEndSignature) {
      return invalid("a ZIP's end is missing: the file is cut off, or has a comment or other bytes after its end");
    }
    const std::size_t end = file_.size() - zip::kEndBytes;
    const std::uint16_t disk = u16(file_, end + 4);
    const std::uint16_t directory_disk = u16(file_, end + 6);
    const std::uint16_t entries_here = u16(file_, end + 8);
    const std::uint16_t entries = u16(file_, end + 10);
    const std::uint32_t size = u32(file_, end + 12);
    const std::uint32_t offset = u32(file_, end + 16);
    if (u16(file_, end + 20) != 0) return invalid("the ZIP has a comment: make it without one");
    if (disk != 0 || directory_disk != 0 || entries_here != entries) return invalid("a part of a split ZIP");

    Directory directory{offset, end, entries};
    std::uint64_t directory_size = size;
    const bool is_64 = end >= zip::kLocator64Bytes + zip::kEnd64Bytes &&
                       u32(file_, end - zip::kLocator64Bytes) == zip::kLocator64Signature;
    if (is_64) {
      const std::size_t locator = end - zip::kLocator64Bytes;
      const std::size_t record = locator - zip::kEnd64Bytes;
      if (u32(file_, locator + 4) != 0 || u32(file_, locator + 16) != 1) return invalid("a part of a split ZIP");
      if (u64(file_, locator + 8) != record || u32(file_, record) != zip::kEnd64Signature ||
          u64(file_, record + 4) != zip::kEnd64Bytes - 12) {
        return invalid("the Zip64 end is not where it must be");
      }
      if (u32(file_, record + 16) != 0 || u32(file_, record + 20) != 0 ||
          u64(file_, record + 24) != u64(file_, record + 32)) {
        return invalid("a part of a split ZIP");
      }
      const std::uint64_t entries_64 = u64(file_, record + 32);
      const std::uint64_t size_64 = u64(file_, record + 40);
      const std::uint64_t offset_64 = u64(file_, record + 48);
      if ((entries != zip::kElsewhere16 && entries != entries_64) || (size != zip::kElsewhere32 && size != size_64) ||
          (offset != zip::kElsewhere32 && offset != offset_64)) {
        return invalid("the ZIP has two ends that contradict each other");
      }
      directory = {offset_64, record, entries_64};
      directory_size = size_64;
    } else if (entries == zip::kElsewhere16 || size == zip::kElsewhere32 || offset == zip::kElsewhere32) {
      return invalid("the Zip64 end is missing");
    }
    if (directory.begin > directory.end || directory.end - directory.begin != directory_size) {
      return invalid("the ZIP's directory is not at the place that its end names");
    }
    if (directory_size > zip::kDirectoryBytesMax || directory.entries > zip::kEntriesMax) {
      return invalid(fmt::format("{} entries in a directory of {} bytes are above the limits of {} and {}",
                                 directory.entries, directory_size, zip::kEntriesMax, zip::kDirectoryBytesMax));
    }
    if (directory_size < directory.entries * zip::kCentralBytes) return invalid("the ZIP's directory is cut off");
    return directory;
  }

  Result<std::vector<Header>> read_directory(const Directory& directory) const {
    std::vector<Header> headers;
    headers.reserve(static_cast<std::size_t>(directory.entries));
    auto at = static_cast<std::size_t>(directory.begin);
    const auto end = static_cast<std::size_t>(directory.end);
    for (std::uint64_t i = 0; i < directory.entries; ++i) {
      if (end - at < zip::kCentralBytes || u32(file_, at) != zip::kCentralSignature) {
        return invalid(fmt::format("entry {} of the ZIP's directory is damaged", i + 1));
      }
      const std::size_t name_size = u16(file_, at + 28);
      const std::size_t extra_size = u16(file_, at + 30);
      const std::size_t comment_size = u16(file_, at + 32);
      if (end - at - zip::kCentralBytes < name_size + extra_size + comment_size) {
        return invalid(fmt::format("entry {} of the ZIP's directory is cut off", i + 1));
      }
      Header header;
      header.name = name_of(file_.subspan(at + zip::kCentralBytes, name_size));
      header.flags = u16(file_, at + 8);
      header.method = u16(file_, at + 10);
      header.crc32 = u32(file_, at + 16);
      header.stored_size = u32(file_, at + 20);
      header.size = u32(file_, at + 24);
      header.attributes = u32(file_, at + 38);
      header.offset = u32(file_, at + 42);
      if (u16(file_, at + 34) != 0) return invalid(header, "is in another part of a split ZIP");
      LB_RETURN_IF_ERROR(take_zip64(file_.subspan(at + zip::kCentralBytes + name_size, extra_size), header));
      headers.push_back(header);
      at += zip::kCentralBytes + name_size + extra_size + comment_size;
    }
    if (at != end) return invalid("the ZIP's directory has more than its entries");
    return headers;
  }

  // Replaces the sizes and the offset that are stored in an extra field. A local header has no offset, so it is zero
  // there.
  Status take_zip64(Bytes extra, Header& header) const {
    std::optional<Bytes> zip64;
    while (extra.size() >= 4) {
      const std::uint16_t id = u16(extra, 0);
      const std::size_t size = u16(extra, 2);
      if (extra.size() - 4 < size) break;  // padding of tools that write less than a field
      if (id == zip::kExtraUnicodePath) return invalid(header, "has a second name");
      if (id == zip::kExtraZip64) {
        if (zip64) return invalid(header, "has its Zip64 sizes twice");
        zip64 = extra.subspan(4, size);
      }
      extra = extra.subspan(4 + size);
    }
    for (std::uint64_t* value : {&header.size, &header.stored_size, &header.offset}) {
      if (*value != zip::kElsewhere32) continue;
      if (!zip64 || zip64->size() < 8) return invalid(header, "lacks its Zip64 sizes");
      *value = u64(*zip64, 0);
      zip64 = zip64->subspan(8);
    }
    return Status();
  }

  Status check_entry(const Header& header) const {
    if ((header.flags & zip::kFlagEncrypted) != 0) return invalid(header, "is encrypted");
    if ((header.flags & zip::kFlagDataDescriptor) != 0) {
      return invalid(header, "has its sizes after its data: write the ZIP to a file, not to a pipe");
    }
    if ((header.flags & ~unsigned{zip::kFlagUtf8}) != 0) {
      return invalid(header, fmt::format("has the flags {:#x}, which are not supported", header.flags));
    }
    if (header.method != zip::kMethodStored) {
      return invalid(header,
                     fmt::format("is compressed (method {}): store it instead, as `zip -0` does", header.method));
    }
    if (header.size != header.stored_size) return invalid(header, "is stored, but its two sizes differ");
    const bool is_folder = header.name.ends_with('/');
    const std::string_view path = is_folder ? header.name.substr(0, header.name.size() - 1) : header.name;
    LB_RETURN_IF_ERROR(check_package_path(path, name_));
    const bool is_ascii = std::ranges::all_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if (!is_ascii && (header.flags & zip::kFlagUtf8) == 0) return invalid(header, "has a name not marked as UTF-8");
    const std::uint32_t type = (header.attributes >> 16U) & zip::kModeType;
    const bool is_plain = type == 0 || type == (is_folder ? zip::kModeFolder : zip::kModeRegular);
    const bool says_folder = (header.attributes & zip::kDosFolder) != 0;
    if (!is_plain || (header.attributes & zip::kDosVolume) != 0 || (says_folder && !is_folder)) {
      return invalid(header, "is a link or another special file");
    }
    if (is_folder && (header.size != 0 || header.crc32 != 0)) return invalid(header, "is a folder with data");
    return Status();
  }

  Status check_local(Header& header, std::uint64_t limit) const {
    if (header.offset > limit || limit - header.offset < zip::kLocalBytes) {
      return invalid(header, "begins after the end of the last one");
    }
    const auto at = static_cast<std::size_t>(header.offset);
    if (u32(file_, at) != zip::kLocalSignature) return invalid(header, "does not begin where the directory says");
    const std::size_t name_size = u16(file_, at + 26);
    const std::size_t extra_size = u16(file_, at + 28);
    if (limit - header.offset - zip::kLocalBytes < name_size + extra_size) return invalid(header, "is cut off");
    Header local;
    local.name = name_of(file_.subspan(at + zip::kLocalBytes, name_size));
    local.stored_size = u32(file_, at + 18);
    local.size = u32(file_, at + 22);
    LB_RETURN_IF_ERROR(take_zip64(file_.subspan(at + zip::kLocalBytes + name_size, extra_size), local));
    if (local.name != header.name || u16(file_, at + 6) != header.flags || u16(file_, at + 8) != header.method ||
        u32(file_, at + 14) != header.crc32 || local.size != header.size || local.stored_size != header.stored_size) {
      return invalid(header, "differs between the directory and its own header");
    }
    header.data = header.offset + zip::kLocalBytes + name_size + extra_size;
    if (limit - header.data < header.size) return invalid(header, "is cut off");
    return Status();
  }

  Status check_tiling(const std::vector<Header>& headers, std::uint64_t limit) const {
    std::vector<const Header*> order;
    order.reserve(headers.size());
    for (const Header& header : headers)
      order.push_back(&header);
    std::ranges::sort(order, {}, &Header::offset);
    std::uint64_t expected = 0;
    for (const Header* header : order) {
      if (header->offset < expected) return invalid(*header, "overlaps the one before it");
      if (header->offset > expected) {
        return invalid(
            fmt::format("{} bytes at {} belong to no entry of the ZIP", header->offset - expected, expected));
      }
      expected = header->data + header->size;
    }
    if (expected != limit) {
      return invalid(fmt::format("{} bytes at {} belong to no entry of the ZIP", limit - expected, expected));
    }
    return Status();
  }

  Bytes file_;
  std::string_view name_;
};

}  // namespace

bool looks_like_zip(std::span<const std::byte> bytes) {
  return bytes.size() >= zip::kEndBytes &&
         (u32(bytes, 0) == zip::kLocalSignature || u32(bytes, 0) == zip::kEndSignature);
}

Result<ZipReader> ZipReader::open(SharedBytes bytes, std::string name) {
  LB_ASSIGN_OR_RETURN(const std::vector<Header> headers, Parser(bytes.bytes, name).parse());
  ZipReader reader;
  std::vector<std::string_view> names;
  std::vector<std::string_view> folders;
  for (const Header& header : headers) {
    if (header.name.ends_with('/')) {
      reader.folders_.emplace_back(header.name.substr(0, header.name.size() - 1));
      folders.push_back(header.name.substr(0, header.name.size() - 1));
    } else {
      reader.entries_.push_back({std::string(header.name), header.data, header.size, header.crc32});
      names.push_back(header.name);
    }
  }
  LB_RETURN_IF_ERROR(check_distinct_paths(names, folders, name));
  std::ranges::sort(reader.entries_, {}, &ZipEntry::name);
  std::ranges::sort(reader.folders_);
  reader.bytes_ = std::move(bytes);
  reader.name_ = std::move(name);
  return reader;
}

const ZipEntry* ZipReader::find(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(entries_, name, {}, [](const ZipEntry& e) { return std::string_view(e.name); });
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

bool ZipReader::has_folder(std::string_view path) const {
  if (path.empty()) return true;
  const std::string prefix = std::string(path) + "/";
  const auto below = std::ranges::lower_bound(entries_, prefix, {}, &ZipEntry::name);
  if (below != entries_.end() && below->name.starts_with(prefix)) return true;
  if (std::ranges::binary_search(folders_, path, std::less<>())) return true;
  const auto folder = std::ranges::lower_bound(folders_, prefix);
  return folder != folders_.end() && folder->starts_with(prefix);
}

SharedBytes ZipReader::bytes_of(const ZipEntry& entry) const {
  return {bytes_.owner,
          bytes_.bytes.subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.size))};
}

Status ZipReader::check(const ZipEntry& entry) const {
  if (crc32_on_threads(bytes_of(entry).bytes, platform::usable_processors()) == entry.crc32) return Status();
  return Status(StatusCode::kInvalidModel,
                fmt::format("{}: '{}' is damaged: its CRC-32 is not the recorded one", name_, printable(entry.name)));
}

}  // namespace latebind::core

#include "app/index/find_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/small_file.h"
#include "core/platform/os_error.h"
#include "core/text/ascii.h"
#include "core/text/encoding_fault.h"
#include "core/text/quote.h"
#include "core/text/utf8.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using std::filesystem::path;

Status error_of(std::string_view action, const path& place, const std::error_code& error) {
  return platform::status_of_errno(action, place, error.default_error_condition().value());
}

class Walk {
 public:
  Walk(const FindOptions& options, FoundFiles& found) : options_(options), found_(found) {
    for (const std::string& type : options.types)
      types_.insert(core::ascii_lowered(type));
    std::error_code ignored;
    if (!options.left_out.empty()) left_out_ = std::filesystem::weakly_canonical(options.left_out, ignored);
  }

  Status take(const std::string& named) {
    if (named == "-") {
      found_.files.push_back({.path = "-", .name = "-", .was_named = true});
      return {};
    }
    const path place = platform::path_from_utf8(named);
    LB_RETURN_IF_ERROR(platform::check_path("open", place));
    std::error_code error;
    const auto status = std::filesystem::status(place, error);
    if (status.type() == std::filesystem::file_type::not_found)
      return error_of("open", place, std::make_error_code(std::errc::no_such_file_or_directory));
    if (error) return error_of("open", place, error);
    const path canonical = std::filesystem::canonical(place, error);
    if (error) return error_of("open", place, error);
    if (std::filesystem::is_directory(status)) return walk(place, canonical);
    std::uint64_t bytes = 0;
    if (std::filesystem::is_regular_file(status)) bytes = std::filesystem::file_size(place, error);
    if (canonical == left_out_) {
      return Status(StatusCode::kInvalidArgument, fmt::format("{} is the index itself", platform::quoted(place)));
    }
    return add({.path = place, .name = named, .place = canonical, .bytes = error ? 0 : bytes, .was_named = true});
  }

 private:
  struct Folder {
    path name;
    path place;
    std::size_t depth = 0;
  };

  Status add(FoundFile file) {
    if (!seen_.insert(file.place).second) return {};
    if (found_.files.size() == kFoundFilesMax) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("more than {} files: name fewer folders, or --type", kFoundFilesMax));
    }
    found_.files.push_back(std::move(file));
    return {};
  }

  void cannot_read(const path& place, const std::error_code& error) {
    if (++found_.left_out.unreadable == 1) found_.left_out.first_unreadable = error_of("open", place, error).message();
  }

  Status walk(const path& named, const path& canonical) {
    std::vector<Folder> open{{named, canonical, 0}};
    while (!open.empty()) {
      const Folder folder = std::move(open.back());
      open.pop_back();
      std::vector<path> entries;
      std::error_code error;
      platform::for_each_entry(folder.name, error, [&](const path& entry) {
        entries.push_back(entry.filename());
        return entries.size() <= kFoundFilesMax;
      });
      if (error) {
        if (folder.depth == 0) return error_of("open", folder.name, error);
        cannot_read(folder.name, error);
      }
      std::ranges::sort(entries);
      std::vector<Folder> below;
      for (const path& entry : entries)
        LB_RETURN_IF_ERROR(take_entry(folder, entry, below));
      // Reversed, because the last entry of `open` is walked next.
      std::move(below.rbegin(), below.rend(), std::back_inserter(open));
    }
    return {};
  }

  Status take_entry(const Folder& folder, const path& entry, std::vector<Folder>& below) {
    LeftOut& left_out = found_.left_out;
    const path place = folder.place / entry;
    if (place == left_out_) return {};
    const std::string name = platform::path_to_utf8(entry);
    if (!options_.hidden && name.starts_with('.')) {
      ++left_out.hidden;
      return {};
    }
    std::error_code error;
    const path file = folder.name / entry;
    const auto status = std::filesystem::symlink_status(file, error);
    // The entry was removed meanwhile.
    if (status.type() == std::filesystem::file_type::not_found) return {};
    if (error) {
      cannot_read(file, error);
      return {};
    }
    if (std::filesystem::is_symlink(status)) {
      ++left_out.links;
      return {};
    }
    if (std::filesystem::is_directory(status)) {
      if (folder.depth + 1 > kFolderDepthMax) {
        return Status(StatusCode::kInvalidArgument,
                      fmt::format("{} is more than {} folders deep", platform::quoted(file), kFolderDepthMax));
      }
      below.push_back({file, place, folder.depth + 1});
      return {};
    }
    if (!std::filesystem::is_regular_file(status)) {
      ++left_out.special;
      return {};
    }
    if (!types_.empty()) {
      const auto dot = name.rfind('.');
      if (dot == std::string::npos || !types_.contains(core::ascii_lowered(std::string_view(name).substr(dot + 1)))) {
        ++left_out.types;
        return {};
      }
    }
    const std::uint64_t bytes = std::filesystem::file_size(file, error);
    if (error) {
      cannot_read(file, error);
      return {};
    }
    if (bytes > options_.bytes_max) {
      ++left_out.large;
      return {};
    }
    return add({.path = file, .name = platform::path_to_utf8(file), .place = place, .bytes = bytes});
  }

  const FindOptions& options_;
  FoundFiles& found_;
  std::set<std::string, std::less<>> types_;
  path left_out_;
  std::set<path> seen_;
};

}  // namespace

Result<FoundFiles> find_texts(std::span<const std::string> places, const FindOptions& options) {
  FoundFiles found;
  Walk walk(options, found);
  for (const std::string& place : places)
    LB_RETURN_IF_ERROR(walk.take(place));
  return found;
}

Result<std::optional<std::string>> read_text(const FoundFile& file, std::uint64_t bytes_max, LeftOut& left_out) {
  using Text = std::optional<std::string>;
  // Allocates only the size found before, unless the file has grown.
  auto read = platform::read_small_file(file.path, static_cast<std::size_t>(std::min(bytes_max, file.bytes)));
  if (!read.ok() && read.status().code() == StatusCode::kInvalidArgument && file.bytes < bytes_max)
    read = platform::read_small_file(file.path, static_cast<std::size_t>(bytes_max));
  if (!read.ok()) {
    if (read.status().code() == StatusCode::kInvalidArgument && file.was_named) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("{}: --max-file-size sets the limit", read.status().message()));
    }
    if (file.was_named || read.status().code() == StatusCode::kOutOfMemory) return read.status();
    if (read.status().code() == StatusCode::kInvalidArgument) {
      ++left_out.large;
    } else if (read.status().code() != StatusCode::kNotFound && ++left_out.unreadable == 1) {
      left_out.first_unreadable = read.status().message();
    }
    return Text();
  }
  if (!file.was_named && read->find('\0') != std::string::npos && !core::begins_as_utf16(*read)) {
    ++left_out.binary;
    return Text();
  }
  const auto bad = core::find_invalid_utf8(*read);
  if (!bad) return Text(*std::move(read));
  const auto [number, begin] = core::line_of(*read, *bad);
  const std::string_view line = std::string_view(*read).substr(begin);
  std::string fault = fmt::format("{}:{}: {}", core::printable(file.name), number,
                                  core::encoding_fault(line, *bad - begin, begin == 0));
  if (file.was_named) return Status(StatusCode::kInvalidArgument, std::move(fault));
  if (++left_out.not_utf8 == 1) left_out.first_not_utf8 = std::move(fault);
  return Text();
}

Status leave_out_binary(FoundFiles& found, std::uint64_t bytes_max) {
  std::vector<FoundFile> texts;
  for (FoundFile& file : found.files) {
    if (!file.was_named) {
      LB_ASSIGN_OR_RETURN(const auto text, read_text(file, bytes_max, found.left_out));
      if (!text) continue;
    }
    texts.push_back(std::move(file));
  }
  found.files = std::move(texts);
  return {};
}

LeftOut& LeftOut::operator+=(const LeftOut& other) {
  if (unreadable == 0) first_unreadable = other.first_unreadable;
  if (not_utf8 == 0) first_not_utf8 = other.first_not_utf8;
  hidden += other.hidden;
  links += other.links;
  types += other.types;
  large += other.large;
  binary += other.binary;
  not_utf8 += other.not_utf8;
  special += other.special;
  unreadable += other.unreadable;
  return *this;
}

std::string LeftOut::text() const {
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, std::string_view one, std::string_view many) {
    if (count > 0) parts.push_back(fmt::format("{} {}", count, count == 1 ? one : many));
  };
  add(binary, "binary file", "binary files");
  add(not_utf8, "that is not UTF-8", "that are not UTF-8");
  add(hidden, "hidden one", "hidden ones");
  add(links, "link", "links");
  add(types, "of another type", "of other types");
  add(large, "too large", "too large");
  add(special, "pipe or device", "pipes or devices");
  add(unreadable, "unreadable", "unreadable");
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  if (unreadable > 0) text += fmt::format(" ({})", first_unreadable);
  if (not_utf8 > 0) text += fmt::format("; {}", first_not_utf8);
  return text;
}

Json LeftOut::json() const {
  Json json;
  json["binary"] = binary;
  json["not_utf8"] = not_utf8;
  json["hidden"] = hidden;
  json["links"] = links;
  json["types"] = types;
  json["large"] = large;
  json["special"] = special;
  json["unreadable"] = unreadable;
  return json;
}

}  // namespace latebind::app

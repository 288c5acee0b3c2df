// The files with text below folders, and what was left out of them.
//
// Stateless; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/json_text.h"
#include "core/result.h"

namespace latebind::app {

inline constexpr std::size_t kFoundFilesMax = 1'000'000;
inline constexpr std::size_t kFolderDepthMax = 128;
inline constexpr std::uint64_t kTextFileBytesMax = std::uint64_t{64} << 20;

struct FindOptions {
  std::vector<std::string> types{};             // endings without the dot, such as "md"; none: all files
  bool hidden = false;                          // what begins with a dot, too
  std::uint64_t bytes_max = kTextFileBytesMax;  // of a file in a folder
  std::filesystem::path left_out{};             // a file that is not text of the user's: the index itself
};

struct FoundFile {
  std::filesystem::path path{};   // as it is opened
  std::string name{};             // as it is shown: what was named, and the path below it
  std::filesystem::path place{};  // canonical
  std::uint64_t bytes = 0;
  bool was_named = false;  // and not found in a folder
};

// Files and folders in named folders that are not looked at, by why.
struct LeftOut {
  std::size_t hidden = 0;
  std::size_t links = 0;
  std::size_t types = 0;  // of other types than those asked for
  std::size_t large = 0;
  std::size_t binary = 0;  // with a zero byte
  std::size_t not_utf8 = 0;
  std::size_t special = 0;  // pipes, sockets, devices
  std::size_t unreadable = 0;
  std::string first_not_utf8{};    // where, and what converts it
  std::string first_unreadable{};  // and why

  [[nodiscard]] std::size_t count() const {
    return hidden + links + types + large + binary + not_utf8 + special + unreadable;
  }
  LeftOut& operator+=(const LeftOut& other);
  // "12 binary files, 3 links"; empty when nothing is.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Json json() const;
};

struct FoundFiles {
  std::vector<FoundFile> files{};  // in the order of the places, within a folder by name; each file once
  LeftOut left_out{};
};

// What is named is taken whatever it is, and a folder that is named by a link is entered; links in folders are not
// followed. Reads no file. kNotFound, kPermissionDenied and kIo for what is named, kInvalidArgument for more than
// kFoundFilesMax files.
[[nodiscard]] core::Result<FoundFiles> find_texts(std::span<const std::string> places, const FindOptions& options);

// The whole file. Of one that was found in a folder nothing, and counted in `left_out`, where it is no text or cannot
// be read; else kInvalidArgument for what is too large or not UTF-8, or the errors of reading.
[[nodiscard]] core::Result<std::optional<std::string>> read_text(const FoundFile& file, std::uint64_t bytes_max,
                                                                 LeftOut& left_out);

// Leaves out the files in folders that are no text, so that a reader that wants text finds nothing else.
[[nodiscard]] core::Status leave_out_binary(FoundFiles& found, std::uint64_t bytes_max);

}  // namespace latebind::app

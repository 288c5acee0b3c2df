// Finds the text files below folders and reports what was skipped.
//
// All functions are stateless and safe to call from any thread.
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
  std::vector<std::string> types{};             // extensions without the dot, such as "md"; empty: all files
  bool hidden = false;                          // includes names that begin with a dot
  std::uint64_t bytes_max = kTextFileBytesMax;  // the size limit for a file in a folder
  std::filesystem::path left_out{};             // a file to skip: the index itself
};

struct FoundFile {
  std::filesystem::path path{};   // the path to open
  std::string name{};             // the name to show: the named place and the path below it
  std::filesystem::path place{};  // canonical
  std::uint64_t bytes = 0;
  bool was_named = false;  // named by the user, not found in a folder
};

// How many files and folders inside the named folders were skipped, by reason.
struct LeftOut {
  std::size_t hidden = 0;
  std::size_t links = 0;
  std::size_t types = 0;  // types other than those asked for
  std::size_t large = 0;
  std::size_t binary = 0;  // with a zero byte
  std::size_t not_utf8 = 0;
  std::size_t special = 0;  // pipes, sockets, devices
  std::size_t unreadable = 0;
  std::string first_not_utf8{};    // the place, and what converts it
  std::string first_unreadable{};  // its name and the reason

  [[nodiscard]] std::size_t count() const {
    return hidden + links + types + large + binary + not_utf8 + special + unreadable;
  }
  LeftOut& operator+=(const LeftOut& other);
  // "12 binary files, 3 links". Empty if nothing was skipped.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] Json json() const;
};

struct FoundFiles {
  std::vector<FoundFile> files{};  // in the order of the places, by name within a folder; each file once
  LeftOut left_out{};
};

// Collects the files in `places` without reading them. Takes every named file regardless of its type and enters a named
// folder even if the name is a link; links inside folders are not followed. Returns kNotFound, kPermissionDenied or kIo
// for a named place, and kInvalidArgument for more than kFoundFilesMax files.
[[nodiscard]] core::Result<FoundFiles> find_texts(std::span<const std::string> places, const FindOptions& options);

// Reads the whole file. A file found in a folder that is not text or cannot be read gives std::nullopt and is counted
// in `left_out`. For a named file, these are errors: kInvalidArgument if it is too large or not UTF-8, otherwise the
// error of reading.
[[nodiscard]] core::Result<std::optional<std::string>> read_text(const FoundFile& file, std::uint64_t bytes_max,
                                                                 LeftOut& left_out);

// Removes files found in folders that are not text, for readers that accept only text.
[[nodiscard]] core::Status leave_out_binary(FoundFiles& found, std::uint64_t bytes_max);

}  // namespace latebind::app

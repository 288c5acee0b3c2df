#include "core/platform/files/temporary_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/leftovers.h"
#include "core/platform/files/temporary_folder_os.h"
#include "core/platform/files/temporary_name.h"
#include "core/text/ascii.h"

namespace latebind::platform {
namespace {

constexpr std::string_view kPrefix = "latebind-";
// Locked while the folder is in use.
constexpr const char* kMark = ".latebind-temporary";

// Whether a name ends like one that the system makes: with 6 characters on Linux, with 16 on Windows.
bool has_made_up_end(std::string_view name) {
  const std::string_view end = name.substr(name.rfind('-') + 1);
  return (end.size() == 6 || end.size() == 16) && name.size() > kPrefix.size() + end.size() &&
         std::ranges::all_of(end, [](char c) { return core::is_ascii_letter(c) || core::is_ascii_digit(c); });
}

// A folder without the mark was created, or emptied, by a process that was killed before its next step.
bool may_be_bare(const std::filesystem::path& folder) {
  return has_made_up_end(path_to_utf8(folder.filename())) && is_private_folder(folder) && is_left_alone(folder);
}

bool is_abandoned_long_ago(const std::filesystem::path& folder) {
  std::error_code error;
  const auto mark = folder / kMark;
  if (!is_private_folder(folder) ||
      std::filesystem::symlink_status(mark, error).type() != std::filesystem::file_type::regular ||
      !is_left_alone(mark)) {
    return false;
  }
  return FileLock::acquire(mark, std::chrono::milliseconds(0)).ok();
}

// Like std::filesystem::remove_all(), which ends the process when there is no memory for a name. No other user can
// change a private folder, so no entry changes its kind in between. NOLINTNEXTLINE(misc-no-recursion): as deep as what
// was written there
void remove_tree(const std::filesystem::path& folder, std::error_code& error) {
  std::error_code ignored;
  for_each_entry(folder, ignored, [](const std::filesystem::path& entry) {
    std::error_code stays;
    if (std::filesystem::is_directory(std::filesystem::symlink_status(entry, stays))) {
      remove_tree(entry, stays);
    } else {
      std::filesystem::remove(entry, stays);
    }
    return true;
  });
  std::filesystem::remove(folder, error);
}

void remove_abandoned(const std::filesystem::path& place) noexcept {
  try {
    std::error_code error;
    for_each_entry(place, error, [](const std::filesystem::path& entry) {
      std::error_code ignored;
      if (!path_to_utf8(entry.filename()).starts_with(kPrefix)) return true;
      if (is_abandoned_long_ago(entry)) {
        remove_tree(entry, ignored);
      } else if (may_be_bare(entry)) {
        // A folder with content may be kept on purpose, and stays.
        std::filesystem::remove(entry, ignored);
      }
      return true;
    });
  } catch (const std::exception&) {
    // No memory for a name; a later call removes the rest.
  }
}

}  // namespace

core::Result<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
  LB_ASSIGN_OR_RETURN(const auto place, temporary_place());
  // Leftovers of other processes are removed once per process.
  static std::atomic<unsigned> swept_in{0};
  const unsigned now = process_generation() + 1;
  if (swept_in.exchange(now) != now) remove_abandoned(place);
  const std::string prefix = fmt::format("{}{}", kPrefix, purpose);
  LB_ASSIGN_OR_RETURN(auto path, make_leftover([&] { return make_private_folder(place, prefix); }));
  TemporaryFolder folder(std::move(path));
  // On a file system without locks, no abandoned folder is removed.
  if (auto mark = FileLock::acquire(folder.path_ / kMark, std::chrono::milliseconds(0)); mark.ok()) {
    folder.mark_ = *std::move(mark);
  }
  return folder;
}

TemporaryFolder::TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), mark_(std::exchange(other.mark_, std::nullopt)), made_(other.made_) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  if (this != &other) {
    remove();
    path_ = std::exchange(other.path_, {});
    mark_ = std::exchange(other.mark_, std::nullopt);
    made_ = other.made_;
  }
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  remove();
}

void TemporaryFolder::remove() noexcept {
  if (path_.empty() || !made_.this_process()) return;
  // Some systems do not remove an open file.
  mark_.reset();
  try {
    std::error_code error;
    remove_tree(path_, error);
    if (error) return;
  } catch (const std::bad_alloc&) {
    return;  // a later start removes it
  }
  drop_leftover(path_);
  path_.clear();
}

}  // namespace latebind::platform

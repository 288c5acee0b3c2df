#include "core/platform/files/output_folder.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folder_trust.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/leftovers.h"
#include "core/platform/files/output_folder_os.h"
#include "core/platform/files/temporary_name.h"
#include "core/platform/os_error.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;

using std::filesystem::path;

Status no_place(const path& folder, std::string_view why) {
  return Status(StatusCode::kInvalidArgument, fmt::format("cannot write the folder {}: {}", quoted(folder), why));
}

// Follows the links at the end of a path.
core::Result<path> follow_folder_links(const path& folder) {
  constexpr int kMostLinks = 40;  // as many as the kernel follows
  path place = without_slash(folder);
  for (int followed = 0; followed < kMostLinks; ++followed) {
    auto link = link_target(place);
    if (!link.ok()) return link.status().with_context("cannot write");
    if (!*link) return place;
    place = without_slash((*link)->is_absolute() ? **link : place.parent_path() / **link);
  }
  return no_place(folder, "it leads through too many links");
}

}  // namespace

core::Result<std::filesystem::path> OutputFolder::place_of(const std::filesystem::path& folder) {
  LB_RETURN_IF_ERROR(check_path("write", folder));
  std::error_code error;
  // Makes the path absolute, so that commit() finds it if the program changes its current folder meanwhile.
  const std::filesystem::path full = std::filesystem::absolute(folder, error);
  if (error) return status_of_errno("write", folder, error.value());
  LB_ASSIGN_OR_RETURN(std::filesystem::path place, follow_folder_links(full));
  const auto kind = std::filesystem::status(place, error).type();
  if (kind == std::filesystem::file_type::not_found) {
    // ".." is resolved after the links before it. If the parent is missing, make_temporary_folder() reports it.
    const std::filesystem::path parent = std::filesystem::canonical(place.parent_path(), error);
    return error ? place : parent / place.filename();
  }
  if (kind == std::filesystem::file_type::none) return status_of_errno("write", folder, error.value());
  if (kind != std::filesystem::file_type::directory) return no_place(folder, "a file with this name exists");
  place = std::filesystem::canonical(place, error);
  if (error) return status_of_errno("write", folder, error.value());
  if (!place.has_filename()) return no_place(folder, "it cannot be a folder");
  const std::filesystem::path current = std::filesystem::current_path(error);
  if (!error && is_within(current, place)) {
    return no_place(
        folder,
        "it contains the current folder, which would be replaced; name another one, or change to another folder");
  }
  return place;
}

core::Result<OutputFolder> OutputFolder::create(const std::filesystem::path& folder) {
  LB_ASSIGN_OR_RETURN(std::filesystem::path target, place_of(folder));
  LB_ASSIGN_OR_RETURN(OpenedFolder opened, make_temporary_folder(target.parent_path(), target));
  OutputFolder output;
  output.folder_ = std::move(target);
  output.temporary_ = std::move(opened.path);
  output.handle_ = opened.handle;
  add_leftover(output.temporary_);
  return output;
}

OutputFolder::OutputFolder(OutputFolder&& other) noexcept
    : folder_(std::move(other.folder_)),
      temporary_(std::exchange(other.temporary_, {})),
      handle_(std::exchange(other.handle_, -1)),
      made_(other.made_) {}

OutputFolder::~OutputFolder() {
  discard();
}

Status OutputFolder::commit(const MayReplace& may_replace) {
  if (temporary_.empty()) {
    return Status(StatusCode::kInternal, "an output folder was used after it was committed or moved");
  }
  // Windows does not rename a folder that is open.
  close_folder_quietly(std::exchange(handle_, -1));
  // Dropped first, so that a signal removes neither the finished folder nor the old one.
  drop_leftover(temporary_);
  const auto placed = place_folder(temporary_, folder_);
  Status status = placed.status();
  if (placed.ok() && *placed) temporary_.clear();
  if (placed.ok() && !*placed) status = replace(may_replace);
  discard();
  return status;
}

Status OutputFolder::replace(const MayReplace& may_replace) {
  if (!may_replace) {
    return Status(
        StatusCode::kInvalidArgument,
        fmt::format("cannot write the folder {}: it exists and is not empty; name another one", quoted(folder_)));
  }
  std::error_code ignored;
  // An old folder with a temporary name would be taken for abandoned.
  std::filesystem::last_write_time(folder_, std::filesystem::file_time_type::clock::now(), ignored);
  LB_RETURN_IF_ERROR(exchange_folders(temporary_, folder_));
  Status allowed = may_replace(temporary_);
  if (allowed.ok()) return allowed;
  const Status back = exchange_folders(temporary_, folder_);
  if (back.ok()) return allowed;
  // The old folder must not be removed, wherever it is now.
  const auto name = std::exchange(temporary_, {});
  return Status(back.code(), fmt::format("{}; the previous content is in {}", back.message(), quoted(name)));
}

void OutputFolder::discard() noexcept {
  close_folder_quietly(std::exchange(handle_, -1));
  if (temporary_.empty() || !made_.this_process()) return;
  try {
    std::error_code ignored;
    std::filesystem::remove_all(temporary_, ignored);
  } catch (const std::bad_alloc&) {
    // Treated like the end of the process: remove_abandoned_folders() finds the folder.
  }
  drop_leftover(temporary_);
  temporary_.clear();
}

void remove_abandoned_folders(const std::filesystem::path& parent) noexcept {
  try {
    std::error_code error;
    for_each_entry(parent, error, [](const std::filesystem::path& folder) {
      if (!is_temporary_name(path_to_utf8(folder.filename()))) return true;
      std::error_code ignored;
      if (!std::filesystem::is_directory(std::filesystem::symlink_status(folder, ignored)) ||
          !is_abandoned_folder(folder) || !is_left_alone(folder)) {
        return true;
      }
      std::filesystem::remove_all(folder, ignored);
      return true;
    });
  } catch (const std::exception&) {
    // No memory for a name; a later call removes the rest.
  }
}

}  // namespace latebind::platform

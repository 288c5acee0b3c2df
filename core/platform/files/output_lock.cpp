#include "core/platform/files/output_lock.h"

#include <fmt/format.h>

#include <exception>
#include <system_error>
#include <utility>

#include "core/platform/digest.h"
#include "core/platform/files/folder_entries.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/leftovers.h"
#include "core/platform/files/temporary_name.h"

namespace latebind::platform {
namespace {

using core::StatusCode;
using std::filesystem::path;

// The name is a digest, because the place's own name may already have the greatest length.
path lock_file_of(const path& place) {
  Sha256 sum;
  sum.update(path_to_utf8(place.filename()));
  return place.parent_path() / fmt::format("{}{}{}", kLockPrefix, sum.hex().substr(0, kLockDigits), kLockEnding);
}

// Returns the full path that a name leads to; "" for a device or a pipe, which cannot be replaced.
path real_place(const path& place) {
  std::error_code error;
  path real = std::filesystem::weakly_canonical(std::filesystem::absolute(without_slash(place), error), error);
  if (error || !real.has_filename()) return {};
  const auto kind = std::filesystem::status(real, error).type();
  const bool is_replaced = kind == std::filesystem::file_type::not_found ||
                           kind == std::filesystem::file_type::regular || kind == std::filesystem::file_type::directory;
  return is_replaced ? real : path();
}

}  // namespace

core::Result<OutputLock> OutputLock::acquire(const path& place, std::chrono::milliseconds timeout) {
  OutputLock lock;
  const path real = real_place(place);
  if (real.empty()) return lock;
  lock.file_ = lock_file_of(real);
  auto held = FileLock::acquire(lock.file_, timeout);
  if (held.ok()) {
    lock.lock_ = *std::move(held);
    add_leftover(lock.file_);
  } else if (held.status().code() == StatusCode::kBusy) {
    return held.status();
  }
  return lock;
}

OutputLock::OutputLock(OutputLock&& other) noexcept
    : file_(std::move(other.file_)), lock_(std::exchange(other.lock_, std::nullopt)), made_(other.made_) {}

OutputLock::~OutputLock() {
  if (!lock_ || !made_.this_process()) return;
  drop_leftover(file_);
  lock_->remove(file_);
}

void remove_abandoned_locks(const path& folder) noexcept {
  try {
    std::error_code error;
    for_each_entry(folder, error, [](const path& file) {
      std::error_code ignored;
      if (!is_lock_name(path_to_utf8(file.filename())) || !is_left_alone(file) ||
          !std::filesystem::is_regular_file(std::filesystem::symlink_status(file, ignored))) {
        return true;
      }
      if (auto held = FileLock::acquire(file, std::chrono::milliseconds(0)); held.ok()) held->remove(file);
      return true;
    });
  } catch (const std::exception&) {
    // No memory for a name; a later call removes the rest.
  }
}

}  // namespace latebind::platform

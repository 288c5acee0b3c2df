// A model by its name: the folder of its files in the hub's cache, loaded first where they are missing.
//
// Safe with several threads and processes at once, those of other tools included: contents are checked before they get
// their names, and who loads one holds its lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cancellation.h"
#include "core/result.h"
#include "embedding/hub/name.h"
#include "embedding/hub/settings.h"

namespace latebind::embedding::hub {

struct SnapshotOptions {
  // Bytes that are there and bytes that there will be, of the files that had to be loaded; from the calling thread.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress{};
  // Something that a person should know, and that is no error: a wait, or that the cache stands in for the hub.
  std::function<void(std::string_view)> note{};
  // Ends it with kCancelled within a second or so; a wait for another process that loads the same goes on.
  core::Cancellation cancellation{};
  // How long another process may take to load a file that is wanted here, too.
  std::chrono::milliseconds lock_timeout = std::chrono::minutes(30);
};

struct SnapshotFile {
  std::string name;         // with '/'
  std::uint64_t bytes = 0;  // of the whole file
  bool loaded = false;      // now, and not before
};

struct Snapshot {
  std::filesystem::path folder{};
  std::string commit{};
  std::vector<SnapshotFile> files{};  // that are needed
  std::uint64_t loaded_bytes = 0;     // that came over the network
  bool from_cache = false;            // the hub was not asked
};

// The folder, complete. Without the network (HF_HUB_OFFLINE, or nobody answers) it is what the cache has of this
// revision, if that is complete. A commit that is complete in the cache needs no network at all. After an error nothing
// has a final name that is not whole, and what came is gone on with next time.
//
// kInvalidArgument, kNotFound, kPermissionDenied, kBusy, kIo, kDiskFull, kDeadlineExceeded, kUnsupported,
// kInvalidModel, kLibraryNotFound, kCancelled.
[[nodiscard]] core::Result<Snapshot> snapshot(const ModelName& name, const Settings& settings,
                                              const SnapshotOptions& options = {});

}  // namespace latebind::embedding::hub

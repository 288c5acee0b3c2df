// Finds a model by its name: the folder of its files in the hub's cache, where missing files are downloaded first.
//
// Several threads and processes may do so at once, including other tools: contents are checked before they get their
// names, and each one is downloaded under its lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/threads/cancellation.h"
#include "embedding/hub/name.h"
#include "embedding/hub/settings.h"

namespace latebind::embedding::hub {

// How to treat the contents of the cache.
enum class CachedContent : std::uint8_t {
  kTrusted,   // use as they are
  kCompared,  // compare with the hub's sizes and digests, and reload those that differ
  kReplaced,  // reload
};

struct SnapshotOptions {
  // Applies to the needed files. Small files that make no sense are compared in any case.
  CachedContent content = CachedContent::kTrusted;
  // For a name that may be a mistake: a text that precedes errors until the hub has answered about the model. The hub
  // is then given up soon if it does not answer.
  std::string doubt{};
  // Receives the number of received bytes and the total of all files to download; called on the calling thread.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress{};
  // Reports what the user should know although it is not an error, such as a wait.
  using Note = std::function<void(std::string_view)>;
  Note note{};
  // Reports the use of the cache instead of the hub, and its reason; `note` receives both if this is empty.
  std::function<void(std::string_view reason, std::string_view fallback)> note_fallback{};
  // Ends the call with kCancelled within about a second. A wait for another process that downloads the same file
  // continues.
  core::Cancellation cancellation{};
  // An ONNX file of the model that replaces its weights; empty: the weights.
  std::string onnx_file{};
  // How long to wait for another process that downloads a needed file.
  std::chrono::milliseconds lock_timeout = std::chrono::minutes(30);
};

struct SnapshotFile {
  std::string name;         // with '/'
  std::uint64_t bytes = 0;  // of the whole file
  bool loaded = false;      // whether it was downloaded by this call
};

struct Snapshot {
  std::filesystem::path folder{};
  std::string commit{};
  std::vector<SnapshotFile> files{};  // the needed files
  std::uint64_t loaded_bytes = 0;     // received over the network
  bool from_cache = false;            // the hub was not asked, or did not answer
};

// The complete folder. Without the network (HF_HUB_OFFLINE, or no answer), it is the cache's state of this revision if
// that is complete and, for CachedContent::kCompared, shows no damage. A commit in this state needs no network at all.
// After an error, no incomplete file has its final name, and a later call continues the download.
//
// Returns kInvalidArgument, kNotFound, kPermissionDenied, kBusy, kIo, kDiskFull, kDeadlineExceeded, kUnsupported,
// kInvalidModel, kLibraryNotFound or kCancelled.
[[nodiscard]] core::Result<Snapshot> snapshot(const ModelName& name, const Settings& settings,
                                              const SnapshotOptions& options = {});

}  // namespace latebind::embedding::hub

// A model by its name: the folder of its files in the hub's cache, downloaded first where they are missing.
//
// Safe with several threads and processes at once, those of other tools included: contents are checked before they get
// their names, and each is downloaded under its lock.
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

// What the cache has is …
enum class CachedContent : std::uint8_t {
  kTrusted,   // taken as it is
  kCompared,  // compared with the hub's sizes and digests, and loaded again where it differs
  kReplaced,  // loaded again
};

struct SnapshotOptions {
  // Of the files that are needed. A small file that makes no sense is compared in any case.
  CachedContent content = CachedContent::kTrusted;
  // Where the name may be a mistake: what is said before errors until the hub has answered about the model. Then the
  // hub is given up soon when it does not answer.
  std::string doubt{};
  // Bytes received and total bytes of the files that had to be downloaded; from the calling thread.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress{};
  // Something that the user should know but is not an error: a wait, or that the cache is used instead of the hub.
  using Note = std::function<void(std::string_view)>;
  Note note{};
  // Ends it with kCancelled within a second or so; a wait for another process that downloads the same file continues.
  core::Cancellation cancellation{};
  // An ONNX file of the model, which is needed instead of its weights; empty: these.
  std::string onnx_file{};
  // How long another process may take to download a file that is needed here, too.
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
  bool from_cache = false;            // the hub was not asked, or did not answer
};

// The folder, complete. Without the network (HF_HUB_OFFLINE, or no answer) it is what the cache has of this revision,
// if that is complete and, where it is compared, as far as the cache itself tells not damaged. A commit of which the
// same holds needs no network at all. After an error nothing incomplete has a final name, and the download resumes next
// time.
//
// kInvalidArgument, kNotFound, kPermissionDenied, kBusy, kIo, kDiskFull, kDeadlineExceeded, kUnsupported,
// kInvalidModel, kLibraryNotFound, kCancelled.
[[nodiscard]] core::Result<Snapshot> snapshot(const ModelName& name, const Settings& settings,
                                              const SnapshotOptions& options = {});

}  // namespace latebind::embedding::hub

// CompileStore: the folder of the compile cache. It holds what backends compiled, so that the next start need not
// compile.
//
// An entry is the file `<digest of its key>.blob` (compile_entry.h). An entry appears by rename, is checked completely
// before it is used, and is used directly from its mapping. A damaged entry is a miss and is removed. An unusable
// folder (missing, read-only, full) means no cache and one line in the log, but never fails the load. Writes are not
// synced to the disk: after a crash of the machine, checksums detect a torn entry.
//
// All functions may be called from any thread, and any number of processes may use one folder. The store keeps the
// total size below a cap by removing the entries that were used least recently. A file that another process has mapped
// stays valid for that process.
//
// The program executes what it loads from here. The store therefore neither reads nor writes a folder that another user
// may write to (check_folder()), and takes no entry that is not owned by this user or root.
//
// The user may have named the folder, and it may have other files in it. The store neither counts nor removes those,
// whatever their names are.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/cache/compile_key.h"
#include "core/cache/file_digests.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

class CompileStore {
 public:
  static constexpr std::uint64_t kBytesMax = std::uint64_t{10} << 30;

  struct Entry {
    std::filesystem::path file;
    std::string model;
    std::string device;  // "openvino:CPU"
    std::string runtime_version;
    std::string precision;
    std::uint64_t bytes = 0;  // of the file
    std::filesystem::file_time_type last_used;
    Status status;  // what is damaged; the texts above are then empty
  };
  struct Freed {
    std::size_t entries = 0;
    std::uint64_t bytes = 0;
  };

  // Creates no file or folder until there is something to write.
  explicit CompileStore(std::filesystem::path folder, std::uint64_t bytes_max = kBytesMax,
                        std::chrono::nanoseconds settled = FileDigests::kSettled);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  // Returns ok when only this user and root can write to the folder (or to the place where it would be created) or
  // replace it. Otherwise kPermissionDenied, which says what is wrong and what to do.
  [[nodiscard]] Status check_folder() const;
  // Creates the folder, private to its owner, if it is missing, and checks it. Errors: kPermissionDenied, kIo.
  [[nodiscard]] Status make_folder() const;

  // Returns the blob of this key, whose bytes are the mapped entry. kNotFound when there is no entry; kIo when the
  // entry is damaged, which removes it; kPermissionDenied when another user could have written it.
  [[nodiscard]] Result<Blob> get(const CompileKey& key);

  // Writes an entry, replacing one of the same key, and evicts entries until the size is below the cap. On an error no
  // partial file remains. Errors: kDiskFull, kPermissionDenied, kInvalidArgument (empty, or larger than the whole
  // cache), kIo …
  [[nodiscard]] Status put(const CompileKey& key, const Blob& blob);

  // Removes the entry of this key, if there is one.
  void drop(const CompileKey& key);

  // The digests of the files that models are made of.
  [[nodiscard]] FileDigests& digests() { return digests_; }

  // Lists every entry with its header, most recently used first, without reading payloads. Empty when there is no
  // folder.
  [[nodiscard]] Result<std::vector<Entry>> list() const;
  // Removes every entry and the half-written files of processes that have ended. Does not change a folder that has none
  // of them. Fails if check_folder() does, because the files there could be anybody's.
  [[nodiscard]] Result<Freed> clear();
  // Reads every entry completely, removes the damaged ones and returns them. Fails if check_folder() does.
  [[nodiscard]] Result<std::vector<Entry>> verify();

 private:
  [[nodiscard]] std::filesystem::path file_of(const CompileKey& key) const;
  Status evict(const std::filesystem::path& keep);

  const std::filesystem::path folder_;
  const std::uint64_t bytes_max_;
  FileDigests digests_;
};

}  // namespace latebind::core

// CompileStore: the folder of the compile cache, what backends compiled, so that the next start need not compile.
//
// An entry is the file `<digest of its key>.blob` (compile_entry.h). It appears by rename, is checked completely before
// it is used, and is used directly from its mapping. Whatever is wrong with an entry makes it a miss and removes it;
// whatever is wrong with the folder (none, read-only, full) means no cache and one line in the log, never an error of
// the load. Nothing is synced to the disk: after a crash of the machine a torn entry is detected by its sums.
//
// Thread-safe, and safe with any number of processes on one folder. The total size is kept below a cap by removing what
// was used least recently; a file that another process has mapped stays valid for it.
//
// What is loaded from here is executed: nothing is taken from a folder, or written to one, that another user may write
// to (check_folder()), and no entry is taken that is not owned by this user or root.
//
// The folder may be one that the user has named, with other files in it: those are neither counted nor removed,
// whatever they are called.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/compile_key.h"
#include "core/file_digests.h"
#include "core/model.h"
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
    Status status;  // what is damaged: the texts above are then empty
  };
  struct Freed {
    std::size_t entries = 0;
    std::uint64_t bytes = 0;
  };

  // Creates nothing before there is something to write.
  explicit CompileStore(std::filesystem::path folder, std::uint64_t bytes_max = kBytesMax,
                        std::chrono::nanoseconds settled = FileDigests::kSettled);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  // Ok when nobody but this user and root can write to the folder, or to where it would be created, or replace it.
  // kPermissionDenied names what is wrong and what to do.
  [[nodiscard]] Status check_folder() const;
  // Creates the folder, private to its owner, if it is missing, and checks it. kPermissionDenied, kIo.
  [[nodiscard]] Status make_folder() const;

  // The blob of this key. Its bytes are the mapped entry. kNotFound when there is none; kIo when it was damaged, and is
  // then removed; kPermissionDenied when another user could have written it.
  [[nodiscard]] Result<Blob> get(const CompileKey& key);

  // Writes an entry, replacing one of the same key, and evicts entries until the size is below the cap. On an error
  // nothing is left behind: kDiskFull, kPermissionDenied, kInvalidArgument (larger than the whole cache), kIo …
  [[nodiscard]] Status put(const CompileKey& key, const Blob& blob);

  // Removes the entry of this key, if there is one.
  void drop(const CompileKey& key);

  // Digests of the files that models are made of.
  [[nodiscard]] FileDigests& digests() { return digests_; }

  // Every entry with its header read, most recently used first; payloads are not looked at. Empty when there is no
  // folder.
  [[nodiscard]] Result<std::vector<Entry>> list() const;
  // Removes every entry, and half-written files of processes that are gone. Leaves a folder without any as it is. The
  // errors of check_folder(), since files there could be anybody's.
  [[nodiscard]] Result<Freed> clear();
  // Reads every entry completely, and removes and returns the damaged ones. The errors of check_folder().
  [[nodiscard]] Result<std::vector<Entry>> verify();

 private:
  [[nodiscard]] std::filesystem::path file_of(const CompileKey& key) const;
  Status evict(const std::filesystem::path& keep);

  const std::filesystem::path folder_;
  const std::uint64_t bytes_max_;
  FileDigests digests_;
};

}  // namespace latebind::core

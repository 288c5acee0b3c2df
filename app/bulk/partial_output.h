// PartialOutput is an output file that several consecutive runs may write and that appears once it is complete.
//
// The unfinished output is kept in the folder OUTPUT.part: the bytes written so far, a manifest of what they were made
// from, and the progress (docs/bulk.md). save() writes the manifest and the progress after the bytes have reached the
// disk, so a crash leaves the state of the last save(). One process at a time may hold the folder, and one thread at a
// time may use the object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/json_text.h"
#include "core/platform/files/file_lock.h"
#include "core/platform/files/partial_file.h"
#include "core/result.h"

namespace latebind::app {

// How much of an output is done.
struct PartialProgress {
  std::uint64_t texts = 0;
  // The position of the next text: the index of its input file, and the bytes and lines of that file already done.
  std::uint64_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t line = 0;
  std::uint64_t bytes = 0;     // of the output
  std::uint64_t id_bytes = 0;  // of the ids
  bool has_ids = false;        // at least one text has an id
};

class PartialOutput {
 public:
  // Opens or creates the folder. Returns the errors of OutputFile for `output`, kBusy if another run holds the folder,
  // kInvalidArgument if a folder of that name holds anything else, such as an unfinished output of latebind.bulk, and
  // kUnsupported for a pipe or a device.
  static core::Result<PartialOutput> open(const std::filesystem::path& output);

  PartialOutput(PartialOutput&&) noexcept;
  PartialOutput& operator=(PartialOutput&&) = delete;
  // Keeps what was saved. Removes the folder if nothing was saved.
  ~PartialOutput();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // The manifest and the progress that an earlier run saved. std::nullopt if there is no usable saved state.
  [[nodiscard]] const std::optional<Json>& manifest() const { return manifest_; }
  [[nodiscard]] const PartialProgress& progress() const { return progress_; }

  // Discards what was saved.
  [[nodiscard]] core::Status restart();
  // Opens the files at the end of what was saved. Call it once before the first write.
  [[nodiscard]] core::Status begin();

  // Buffered writes. Return kDiskFull or kIo; after a failed write(), every later write() and save() returns its error.
  // What was saved stays intact.
  [[nodiscard]] core::Status write(std::string_view bytes);
  [[nodiscard]] core::Status write_id(std::string_view line);
  [[nodiscard]] core::Status rewrite(std::uint64_t offset, std::string_view bytes);

  // Makes the state up to here durable, so that a later run can continue from it. Sets `bytes` and `id_bytes` of the
  // progress.
  [[nodiscard]] core::Status save(const Json& manifest, PartialProgress progress);
  // Moves the output, and its ids if it has any, to their final names. Must be the last call.
  [[nodiscard]] core::Status finish(bool has_ids);

 private:
  PartialOutput(std::filesystem::path output, std::filesystem::path folder);
  [[nodiscard]] core::Status load();
  [[nodiscard]] core::Status check_entries() const;
  [[nodiscard]] core::Status flush();
  void remove_files() noexcept;
  // Releases the folder with its content, and removes it if it is empty.
  void leave() noexcept;

  struct Stream {
    std::optional<platform::PartialFile> file{};
    std::string buffer{};
    core::Status failure{};  // the first failure; the length of the file is unknown afterwards
    [[nodiscard]] core::Status write(std::string_view bytes);
    [[nodiscard]] core::Status flush();
  };

  std::filesystem::path output_;
  std::filesystem::path folder_;  // empty once finished or moved from
  std::optional<platform::FileLock> lock_;
  std::optional<Json> manifest_;
  PartialProgress progress_;
  Stream vectors_;
  Stream ids_;
};

// The file of ids beside an output whose format cannot hold them: one JSON value per line.
[[nodiscard]] std::filesystem::path ids_file_of(const std::filesystem::path& output);

}  // namespace latebind::app

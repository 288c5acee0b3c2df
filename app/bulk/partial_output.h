// PartialOutput: an output file that several runs may write, one after the other, and that appears when it is complete.
//
// What is unfinished is in the folder OUTPUT.part: the bytes so far, a manifest of what they are made of, and how far
// they go (docs/bulk.md). Both are written only by save(), after the bytes themselves are on the disk, so that whatever
// ends the process leaves the state of the last save(). One process at a time has the folder. One thread at a time.
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

// How far an output is.
struct PartialProgress {
  std::uint64_t texts = 0;
  // Where the next text is: the file of the input from 0, how many bytes and lines of it are done.
  std::uint64_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t line = 0;
  std::uint64_t bytes = 0;     // of the output
  std::uint64_t id_bytes = 0;  // of the ids
  bool has_ids = false;        // some text has one
};

class PartialOutput {
 public:
  // Takes the place and creates what is not there. The errors of OutputFile for the place; kBusy when another run has
  // it, kInvalidArgument when there is a folder of that name with something else in it, such as an unfinished output of
  // latebind.bulk, kUnsupported for a pipe or a device.
  static core::Result<PartialOutput> open(const std::filesystem::path& output);

  PartialOutput(PartialOutput&&) noexcept;
  PartialOutput& operator=(PartialOutput&&) = delete;
  // Keeps what was saved; removes the folder where nothing was.
  ~PartialOutput();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // What an earlier run has saved, if any: its manifest, and how far it was.
  [[nodiscard]] const std::optional<Json>& manifest() const { return manifest_; }
  [[nodiscard]] const PartialProgress& progress() const { return progress_; }

  // Forgets what was saved.
  [[nodiscard]] core::Status restart();
  // Goes to the end of what was saved. First call of a run that writes.
  [[nodiscard]] core::Status begin();

  // kDiskFull or kIo, from then on also of save(); what was saved stays. Buffered.
  [[nodiscard]] core::Status write(std::string_view bytes);
  [[nodiscard]] core::Status write_id(std::string_view line);
  [[nodiscard]] core::Status rewrite(std::uint64_t offset, std::string_view bytes);

  // From here on a later run can go on from here. `bytes` and `id_bytes` of the progress are set here.
  [[nodiscard]] core::Status save(const Json& manifest, PartialProgress progress);
  // Gives the output its name, and its ids theirs, where it has some. Last call.
  [[nodiscard]] core::Status finish(bool has_ids);

 private:
  PartialOutput(std::filesystem::path output, std::filesystem::path folder);
  [[nodiscard]] core::Status load();
  [[nodiscard]] core::Status check_entries() const;
  [[nodiscard]] core::Status flush();
  void remove_files() noexcept;
  // Gives the place back with all that is in the folder; one that is empty is removed.
  void leave() noexcept;

  struct Stream {
    std::optional<platform::PartialFile> file{};
    std::string buffer{};
    core::Status failure{};  // the first one: from then on the file has more than anybody knows of
    [[nodiscard]] core::Status write(std::string_view bytes);
    [[nodiscard]] core::Status flush();
  };

  std::filesystem::path output_;
  std::filesystem::path folder_;  // empty: finished, or moved from
  std::optional<platform::FileLock> lock_;
  std::optional<Json> manifest_;
  PartialProgress progress_;
  Stream vectors_;
  Stream ids_;
};

// The file beside an output in which its ids are, where it has no place for them: a JSON value a line.
[[nodiscard]] std::filesystem::path ids_file_of(const std::filesystem::path& output);

}  // namespace latebind::app

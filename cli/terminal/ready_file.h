// ReadyFile: the file that lists a daemon's addresses, one per line. It appears when everything is ready and is removed
// at the end. One thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/status.h"

namespace latebind::cli {

class ReadyFile {
 public:
  // An empty name stands for no file.
  explicit ReadyFile(std::string file) : file_(std::move(file)) {}
  ReadyFile(const ReadyFile&) = delete;
  ReadyFile& operator=(const ReadyFile&) = delete;
  ~ReadyFile() { remove(); }
  // Checks, before anything is loaded, that the file can be written.
  [[nodiscard]] core::Status check() const;
  // Removes an earlier daemon's file. Called once the addresses are bound, since until then that daemon may be running.
  void clear() const;
  [[nodiscard]] core::Status write(const std::vector<std::string>& addresses);
  // Removes the file, unless it belongs to another daemon by now.
  void remove();

 private:
  const std::string file_;
  std::string written_;
};

}  // namespace latebind::cli

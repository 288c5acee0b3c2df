// TrialMemory: the results of trials, kept in a small file in the cache folder.
//
// An entry lets a library into this process, so the file is read and written only if no other user could have changed
// it. Thread-safe. If several processes write at once, the last one replaces the whole file; what is lost costs another
// trial.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/json/value.h"
#include "core/result.h"

namespace latebind::core {

class TrialMemory {
 public:
  // A file of this name in `folder`, or in the system's cache folder for Latebind if that is empty. A file that was
  // written in another format counts as empty. Fails when there is no cache folder.
  static Result<TrialMemory> in(const std::filesystem::path& folder, std::string_view name, int format);

  [[nodiscard]] std::optional<Json> find(std::string_view key) const;
  // `what` names what was tried, for the log if the entry cannot be kept. A null entry forgets the key.
  void keep(const std::string& key, Json entry, const std::string& what) const;

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  TrialMemory(std::filesystem::path file, int format) : file_(std::move(file)), format_(format) {}
  [[nodiscard]] Json read() const;
  [[nodiscard]] Status write(const Json& entries) const;

  std::filesystem::path file_;
  int format_;
};

}  // namespace latebind::core

// ResultFile: the file by which a child process tells its parent what it is doing and what it has found. Standard
// output is not used, because a backend that writes there is a finding.
//
// The current step is at the beginning of the file, so that it is there when the process crashes.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/threads/mutex.h"
#include "kit/check.h"
#include "kit/context.h"

namespace latebind::kit {

class ResultFile final : public Steps {
 public:
  // kIo if the file cannot be written.
  [[nodiscard]] static core::Result<std::unique_ptr<ResultFile>> create(const std::filesystem::path& file);

  void step(std::string_view what) override;
  // Writes the finding, once, at the end.
  void finish(const Finding& finding);

 private:
  struct Close {
    void operator()(std::FILE* file) const;
  };
  explicit ResultFile(std::FILE* file) : file_(file) {}

  core::Mutex mutex_;
  const std::unique_ptr<std::FILE, Close> file_ LB_GUARDED_BY(mutex_);
};

struct ChildResult {
  std::string step{};                // the last one; empty if there was none
  std::optional<Finding> finding{};  // std::nullopt if the process ended before
};
[[nodiscard]] ChildResult read_result(const std::filesystem::path& file);

}  // namespace latebind::kit

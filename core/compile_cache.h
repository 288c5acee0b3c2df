// CompileCache: a CompileStore with a thread that fills it in the background, so that the first answer does not wait
// for an entry to be written.
//
// Thread-safe. Destruction waits for what is still to be written, but not forever for a vendor that hangs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/compile_store.h"
#include "core/status.h"

namespace latebind::core {

class CompileCache {
 public:
  // Work beyond this is dropped, with a line in the log.
  static constexpr std::size_t kPendingMax = 64;

  explicit CompileCache(std::filesystem::path folder, std::uint64_t bytes_max = CompileStore::kBytesMax,
                        std::chrono::nanoseconds settled = FileDigests::kSettled);
  ~CompileCache();
  CompileCache(const CompileCache&) = delete;
  CompileCache& operator=(const CompileCache&) = delete;

  // Never null. Work for later() keeps a copy: it may outlive this object.
  [[nodiscard]] const std::shared_ptr<CompileStore>& store() const { return store_; }

  // CompileStore::check_folder(); the first refusal is a warning in the log.
  [[nodiscard]] Status check_folder();

  // Does `work` on the cache's thread, soon, in order. An error goes to the log, after `what` and a colon. Without a
  // thread or memory for it the work is dropped and logged.
  void later(std::string what, std::function<Status()> work) noexcept;
  // Waits until all that was given to later() is done.
  void settle();
  // The first error of what was given to later(), which is in the log as well, since this was asked before.
  [[nodiscard]] Status take_failure();

 private:
  class Background;

  const std::shared_ptr<CompileStore> store_;
  std::atomic<bool> refused_{false};
  // Shared with its thread, which may outlive this object while a vendor hangs.
  const std::shared_ptr<Background> background_;
};

}  // namespace latebind::core

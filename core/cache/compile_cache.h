// CompileCache: a CompileStore with a thread that fills it in the background, so that the first answer does not wait
// until an entry is written.
//
// All functions may be called from any thread. The destructor waits until pending work is done, but not forever if a
// vendor hangs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/cache/compile_store.h"
#include "core/status.h"

namespace latebind::core {

class CompileCache {
 public:
  // Pending pieces of work beyond this number are dropped and logged.
  static constexpr std::size_t kPendingMax = 64;

  explicit CompileCache(std::filesystem::path folder, std::uint64_t bytes_max = CompileStore::kBytesMax,
                        std::chrono::nanoseconds settled = FileDigests::kSettled);
  ~CompileCache();
  CompileCache(const CompileCache&) = delete;
  CompileCache& operator=(const CompileCache&) = delete;

  // Never null. Work that is passed to later() keeps a copy, because it may outlive this object.
  [[nodiscard]] const std::shared_ptr<CompileStore>& store() const { return store_; }

  // Returns CompileStore::check_folder(), and logs the first refusal as a warning.
  [[nodiscard]] Status check_folder();

  // Runs `work` soon on the cache's thread, in order. Errors are logged after `what` and a colon. If no thread or
  // memory is available, the work is dropped and logged.
  void later(std::string what, std::function<Status()> work) noexcept;
  // Waits until all work that was passed to later() is done.
  void settle();
  // Returns and clears the first error of work that was passed to later(). It was logged already.
  [[nodiscard]] Status take_failure();

 private:
  class Background;

  const std::shared_ptr<CompileStore> store_;
  std::atomic<bool> refused_{false};
  // Shared with its thread, which may outlive this object while a vendor hangs.
  const std::shared_ptr<Background> background_;
};

}  // namespace latebind::core

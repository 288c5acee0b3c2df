// Session: the program's side of an isolated plug-in's process. The program asks questions on lanes, and one thread at
// a time uses a lane. The session ends when the process exits, sends a message that breaks the rules, or does not
// answer in time. A session that has ended stays ended. May be used from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/plugin/isolated/wire.h"
#include "core/platform/kept_child.h"
#include "core/result.h"
#include "core/threads/mutex.h"

namespace latebind::plugin {

struct Lane {
  platform::OwnedFile socket;
  platform::SharedMemory memory{};

  // Makes the memory at least this large. Returns whether it is another one, which the process does not have yet.
  [[nodiscard]] core::Result<bool> grow(std::size_t size);
};

// How long an answer may take.
struct Patience {
  std::optional<std::chrono::milliseconds> time{};
  const lbb_run* run = nullptr;  // ends when it is cancelled or its deadline passes
  Lane* lane = nullptr;          // of the run, whose memory says that it is over
};

class Session {
 public:
  // Starts the process. `about` takes what it says about the plug-in, or why it cannot be opened.
  [[nodiscard]] static core::Result<std::shared_ptr<Session>> start(const std::filesystem::path& program,
                                                                    const std::string& library,
                                                                    std::chrono::milliseconds time,
                                                                    std::unique_ptr<Reader>& about);

  [[nodiscard]] bool has_ended();

  // A free lane. kBusy when there are too many.
  [[nodiscard]] core::Result<std::unique_ptr<Lane>> take();
  void give_back(std::unique_ptr<Lane> lane);

  // Asks, and waits for the answer. kDeviceFailed says how the process ended.
  [[nodiscard]] core::Result<std::unique_ptr<Reader>> ask(Lane& lane, const Writer& question, int file,
                                                          const Patience& patience);
  // Ends the process. Returns what to say to all that still use it.
  core::Status end(std::string_view why);

 private:
  explicit Session(std::unique_ptr<platform::KeptChild> child, std::string library)
      : library_(std::move(library)), child_(std::move(child)) {}
  // Waits for the answer. Returns why the process has to end, if it has to.
  [[nodiscard]] std::string wait(Lane& lane, const Patience& patience);

  const std::string library_;
  core::Mutex mutex_;
  const std::unique_ptr<platform::KeptChild> child_;
  core::Status ended_ LB_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Lane>> free_ LB_GUARDED_BY(mutex_);
  std::size_t lanes_ LB_GUARDED_BY(mutex_) = 0;
};

}  // namespace latebind::plugin

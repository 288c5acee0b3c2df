// Calls of an isolated plug-in: a question on a lane, and its answer as the outcome of a slot.
#pragma once

#include <memory>
#include <utility>

#include "backends/plugin/host.h"
#include "backends/plugin/isolated/session.h"

namespace latebind::plugin {

using SessionPointer = std::shared_ptr<Session>;

// Makes the error of this side the slot's.
lbb_code failed(lbb_error* error, const core::Status& status);
// The error for an answer that cannot be read.
[[nodiscard]] core::Status damaged();
// Reads the beginning of an answer: the slot's outcome, and the plug-in's lines for the log.
[[nodiscard]] lbb_code outcome(Reader& said, lbb_error* error);

// A lane for as long as one call needs it. One whose answer did not come is not used again. For one thread.
class Call {
 public:
  [[nodiscard]] static core::Result<Call> in(const SessionPointer& session);
  Call(Call&&) noexcept = default;
  Call& operator=(Call&&) = delete;
  ~Call();

  // Sets `said` to the answer, behind its beginning.
  [[nodiscard]] lbb_code ask(const Writer& question, int file, const Patience& patience, std::unique_ptr<Reader>& said,
                             lbb_error* error);
  [[nodiscard]] Lane& lane() { return *lane_; }

 private:
  Call(SessionPointer session, std::unique_ptr<Lane> lane) : session_(std::move(session)), lane_(std::move(lane)) {}
  SessionPointer session_;
  std::unique_ptr<Lane> lane_;
  bool is_good_ = true;
};

// A call of one question.
[[nodiscard]] lbb_code ask_once(const SessionPointer& session, const Writer& question, int file,
                                const Patience& patience, std::unique_ptr<Reader>& said, lbb_error* error);

}  // namespace latebind::plugin

// Locks an output so that one job at a time writes it. A job that adds to a bundle reads it, compiles for minutes and
// then replaces it; without the lock, what another job wrote in between would be lost.
#pragma once

#include <string>

#include "app/client.h"
#include "core/platform/files/output_lock.h"
#include "core/result.h"

namespace latebind::app {

// Acquires the lock on `output`. The caller holds it from before it reads the output until it has written it;
// output_lock.h lists where locks are unavailable. Notifies the client before waiting. Returns kBusy if another process
// holds the lock for longer than ten minutes, and kCancelled.
[[nodiscard]] core::Result<platform::OutputLock> lock_output(const std::string& output, const Client& client);

// The error for an output that changed although the lock was held, because a program that ignores the lock wrote to it.
[[nodiscard]] core::Status changed_meanwhile(const std::string& output);

}  // namespace latebind::app

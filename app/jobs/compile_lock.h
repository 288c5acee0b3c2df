// One job at a time writes a place. Who adds to a bundle reads it, compiles for minutes, and puts the result in its
// place: what others put there in between would be lost.
#pragma once

#include <string>

#include "app/client.h"
#include "core/platform/files/output_lock.h"
#include "core/result.h"

namespace latebind::app {

// The caller holds the lock from before it reads the place until it has written it; output_lock.h says where no lock is
// possible. Notifies the client when it has to wait. kBusy when another process holds it for longer than ten minutes,
// kCancelled.
[[nodiscard]] core::Result<platform::OutputLock> lock_output(const std::string& output, const Client& client);

// The error for a place whose content is not what was read, though the lock was held: a program that knows no such lock
// has changed it.
[[nodiscard]] core::Status changed_meanwhile(const std::string& output);

}  // namespace latebind::app

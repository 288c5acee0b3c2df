#include "cli/terminal/interruption.h"

#include "core/platform/signal_watch.h"

namespace latebind::cli {

Interruption::Interruption() {
  platform::set_signal_handler([cancellation = cancellation_](platform::Signal signal) {
    if (signal != platform::Signal::kInterrupt || cancellation.is_requested()) return false;
    cancellation.request();
    return true;
  });
}

Interruption::~Interruption() {
  platform::set_signal_handler({});
}

}  // namespace latebind::cli

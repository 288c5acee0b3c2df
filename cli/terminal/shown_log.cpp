#include "cli/terminal/shown_log.h"

#include <cstdint>

#include "cli/terminal/messages.h"
#include "core/log.h"
#include "core/platform/standard_streams.h"

namespace latebind::cli {
namespace {

void say(void*, std::int32_t, const char* text) {
  note(text);
}

void say_warning(void*, std::int32_t, const char* text) {
  // Progress may stand in this line; it is drawn again.
  if (platform::error_stream_is_terminal()) platform::write_to_error_stream("\r\x1b[K");
  note(text);
}

}  // namespace

void show_log(LogShown shown) {
  switch (shown) {
    case LogShown::kNothing:
      core::set_log_sink({});
      break;
    case LogShown::kWarnings:
      core::set_log_sink({&say_warning, nullptr}, core::LogLevel::kWarning,
                         static_cast<core::LogTopics>(core::LogTopic::kGeneral));
      break;
    case LogShown::kEverything:
      core::set_log_sink({&say, nullptr}, core::LogLevel::kDebug);
      break;
  }
}

}  // namespace latebind::cli

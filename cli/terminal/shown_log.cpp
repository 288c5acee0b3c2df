#include "cli/terminal/shown_log.h"

#include <cstdint>

#include "cli/terminal/messages.h"
#include "core/log.h"

namespace latebind::cli {
namespace {

void say(void*, std::int32_t, const char* text) {
  note(text);
}

}  // namespace

void show_log(LogShown shown) {
  switch (shown) {
    case LogShown::kNothing:
      core::set_log_sink({});
      break;
    case LogShown::kWarnings:
      core::set_log_sink({&say, nullptr}, core::LogLevel::kWarning,
                         static_cast<core::LogTopics>(core::LogTopic::kGeneral));
      break;
    case LogShown::kEverything:
      core::set_log_sink({&say, nullptr}, core::LogLevel::kDebug);
      break;
  }
}

}  // namespace latebind::cli

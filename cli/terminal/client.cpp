#include "cli/terminal/client.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "cli/terminal/messages.h"

namespace latebind::cli {

TerminalClient::TerminalClient(bool quiet) : quiet_(quiet) {
  client_.name_of = [](std::string_view key) {
    std::string name = "--" + std::string(key);
    std::ranges::replace(name, '_', '-');
    return name;
  };
  client_.note = [](std::string_view text) { note(text); };
  client_.note_fallback = [](std::string_view reason, std::string_view fallback) { note_fallback(reason, fallback); };
  client_.progress = [this](std::string_view activity, std::uint64_t done, std::uint64_t total) {
    if (activity != app::kLoading) return;
    if (!progress_) progress_.emplace(total, quiet_, Progress::Kind::kLoading);
    // If a file is downloaded again, the bar stays until the download passes that point.
    if (done > shown_) progress_->advance(0, done - shown_);
    shown_ = std::max(shown_, done);
  };
}

}  // namespace latebind::cli

#include "cli/terminal/ready_file.h"

#include <filesystem>
#include <system_error>

#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/small_file.h"
#include "core/result.h"

namespace latebind::cli {

using core::Status;

Status ReadyFile::check() const {
  return file_.empty() ? Status() : platform::OutputFile::create(platform::path_from_utf8(file_)).status();
}

void ReadyFile::clear() const {
  const auto path = platform::path_from_utf8(file_);
  std::error_code ignored;
  if (!file_.empty() && std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
}

Status ReadyFile::write(const std::vector<std::string>& addresses) {
  if (file_.empty()) return {};
  LB_ASSIGN_OR_RETURN(auto file, platform::OutputFile::create(platform::path_from_utf8(file_)));
  std::string text;
  for (const std::string& address : addresses)
    text += address + "\n";
  LB_RETURN_IF_ERROR(file.write(text));
  LB_RETURN_IF_ERROR(file.commit_unsynced());
  written_ = std::move(text);
  return {};
}

void ReadyFile::remove() {
  if (written_.empty()) return;
  const auto path = platform::path_from_utf8(file_);
  const auto text = platform::read_small_file(path, written_.size());
  std::error_code ignored;
  if (text.ok() && *text == written_) std::filesystem::remove(path, ignored);
  written_.clear();
}

}  // namespace latebind::cli

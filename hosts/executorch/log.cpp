#include "hosts/executorch/log.h"

#include <executorch/runtime/platform/log.h>

#include <algorithm>
#include <string>

namespace latebind::delegate {
namespace {

namespace et = ::executorch::runtime;

// Below ExecuTorch's limit, with room for a prefix that some platforms add.
constexpr std::size_t kLineBytesMax = 200;
constexpr std::size_t kLinesMax = 24;

void emit(Level level, const std::string& line) {
  if (level == Level::kError) {
    ET_LOG(Error, "%s", line.c_str());
  } else if (level == Level::kInfo) {
    ET_LOG(Info, "%s", line.c_str());
  } else {
    ET_LOG(Debug, "%s", line.c_str());
  }
}

// Bytes of the next line: up to a space, or else up to the last whole character.
std::size_t line_length(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text.size();
  if (const auto space = text.rfind(' ', most); space != std::string_view::npos && space > most / 2) return space;
  std::size_t length = most;
  while (length > 1 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U)
    --length;
  return length;
}

}  // namespace

void say(Level level, std::string_view text) {
  std::string line = std::string(kBackendId) + ": ";
  for (std::size_t lines = 0; lines < kLinesMax; ++lines) {
    const std::size_t length = line_length(text, kLineBytesMax - line.size());
    line += text.substr(0, length);
    // A line break would create lines that cannot be attributed.
    std::ranges::replace_if(
        line, [](unsigned char c) { return c < ' '; }, ' ');
    emit(level, line);
    text.remove_prefix(length);
    while (text.starts_with(' '))
      text.remove_prefix(1);
    if (text.empty()) return;
    line = "  ";
  }
  emit(level, "  (cut off)");
}

et::Error error_of(lb_code code) {
  switch (code) {
    case LB_OK:
      return et::Error::Ok;
    case LB_INVALID_ARGUMENT:
    case LB_SHAPE_MISMATCH:
    case LB_COUNT_MISMATCH:
    case LB_BUFFER_TOO_SMALL:
      return et::Error::InvalidArgument;
    case LB_TYPE_MISMATCH:
      return et::Error::InvalidType;
    case LB_INVALID_MODEL:
      return et::Error::InvalidProgram;
    case LB_UNSUPPORTED:
    case LB_STRICT_FALLBACK:
      return et::Error::NotSupported;
    case LB_NOT_FOUND:
    case LB_LIBRARY_NOT_FOUND:
    case LB_LIBRARY_UNUSABLE:
    case LB_DEVICE_NOT_FOUND:
      return et::Error::NotFound;
    case LB_INCOMPATIBLE_BLOB:
    case LB_NO_DEVICE:
      return et::Error::DelegateInvalidCompatibility;
    case LB_PERMISSION_DENIED:
    case LB_IO:
      return et::Error::AccessFailed;
    case LB_OUT_OF_MEMORY:
      return et::Error::MemoryAllocationFailed;
    case LB_BUSY:
    case LB_DEADLINE_EXCEEDED:
    case LB_DISK_FULL:
      return et::Error::OutOfResources;
    default:
      return et::Error::Internal;
  }
}

et::Error say_last_error(std::string_view what, lb_code code) {
  return say_status(what, Status::of(code));
}

et::Error say_status(std::string_view what, const Status& status) {
  say(Level::kError, std::string(what) + ": " + status.message() + " (" + status.name() + ")");
  return error_of(status.code());
}

}  // namespace latebind::delegate

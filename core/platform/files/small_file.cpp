#include "core/platform/files/small_file.h"

#include <fmt/format.h>

#include <fstream>

#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"

namespace latebind::platform {

core::Result<std::string> read_small_file(const std::filesystem::path& file, std::size_t most) {
  // Opened only for its errors.
  LB_RETURN_IF_ERROR(MappedFile::open(file).status());
  std::ifstream stream(file, std::ios::binary);
  std::string text(most + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || (!stream.eof() && stream.fail())) {
    return core::Status(core::StatusCode::kIo, fmt::format("cannot read {}", path_to_utf8(file)));
  }
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (text.size() > most) {
    return core::Status(core::StatusCode::kInvalidArgument,
                        fmt::format("{} has more than {} bytes", path_to_utf8(file), most));
  }
  text.shrink_to_fit();
  return text;
}

}  // namespace latebind::platform

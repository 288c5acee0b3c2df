#include "cli/pte_bridge.h"

#include <span>
#include <string>
#include <system_error>

#include "core/platform/output_file.h"

namespace latebind::cli {
namespace {

using core::Status;
using core::StatusCode;

pte::Status to_pte(const Status& status) {
  if (status.ok()) return {};
  return {static_cast<lb_code>(status.code()), status.to_string()};
}

}  // namespace

Status from_pte(const pte::Status& status) {
  if (status.ok()) return {};
  return {static_cast<StatusCode>(status.code()), status.message()};
}

pte::Payload payload_of(const core::ZipImage& image) {
  return {image.size(), [&image](const pte::Sink& sink) {
            pte::Status failed;
            const Status status = image.write([&](std::span<const std::byte> bytes) {
              failed = sink(bytes);
              return from_pte(failed);
            });
            return failed.ok() ? to_pte(status) : failed;
          }};
}

Status write_through(const std::filesystem::path& place,
                     const std::function<pte::Status(const pte::Sink& sink)>& write) {
  std::error_code error;
  const auto full = std::filesystem::absolute(place, error);
  if (!error) platform::remove_abandoned_outputs(full.parent_path());
  LB_ASSIGN_OR_RETURN(auto file, platform::OutputFile::create(place));
  Status failed;  // the file's own error, with all that it knows
  const pte::Status status = write([&](std::span<const std::byte> bytes) {
    failed = file.write(bytes);
    return to_pte(failed);
  });
  LB_RETURN_IF_ERROR(failed);
  LB_RETURN_IF_ERROR(from_pte(status));
  return file.commit();
}

}  // namespace latebind::cli

#include "core/platform/kept_child.h"

namespace latebind::platform {
namespace {

core::Status missing() {
  return core::Status(core::StatusCode::kUnsupported, "children that are kept are not available on Windows");
}

}  // namespace

struct KeptChild::Parts {};

OwnedFile::~OwnedFile() = default;
SharedMemory::~SharedMemory() = default;
core::Result<SharedMemory> SharedMemory::create(std::size_t) {
  return missing();
}
core::Result<SharedMemory> SharedMemory::map(OwnedFile) {
  return missing();
}
core::Result<std::pair<OwnedFile, OwnedFile>> connected_sockets() {
  return missing();
}
core::Status send_message(int, std::string_view, int) {
  return missing();
}
core::Result<std::string> receive_message(int, std::size_t, OwnedFile*) {
  return missing();
}
bool wait_for_message(int, int) {
  return false;
}
bool wait_for_parent(int) {
  return false;
}
core::Result<std::unique_ptr<KeptChild>> KeptChild::start(const std::filesystem::path&,
                                                          const std::vector<std::string>&) {
  return missing();
}
KeptChild::KeptChild(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
KeptChild::~KeptChild() = default;
int KeptChild::socket() const {
  return -1;
}
std::string KeptChild::end() {
  return {};
}

}  // namespace latebind::platform

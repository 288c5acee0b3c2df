#include "backends/openvino/vendor_core.h"

#include <fmt/format.h>

#include <utility>

namespace latebind::openvino {

core::Result<std::shared_ptr<const VendorCore>> VendorCore::create(std::shared_ptr<const Library> library) {
  abi::Core* made = nullptr;
  if (const auto code = library->api.ov_core_create(&made); code != abi::kOk) {
    return library->error(core::StatusCode::kDeviceFailed,
                          fmt::format("OpenVINO {} from {} cannot start", library->version, library->file), code);
  }
  auto core = std::make_shared<VendorCore>();
  core->core = CoreHandle(library->api, made);
  core->library = std::move(library);
  return std::shared_ptr<const VendorCore>(std::move(core));
}

}  // namespace latebind::openvino

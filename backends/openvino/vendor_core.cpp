#include "backends/openvino/vendor_core.h"

#include <fmt/format.h>

#include <utility>

namespace latebind::openvino {

core::Result<std::shared_ptr<const VendorCore>> VendorCore::create(std::shared_ptr<const Library> library) {
  const auto core = std::make_shared<VendorCore>();
  abi::Core* made = nullptr;
  if (const auto code = library->api.ov_core_create(&made); code != abi::kOk) {
    return library->error(core::StatusCode::kDeviceFailed,
                          fmt::format("OpenVINO {} from {} cannot start", library->version, library->file), code);
  }
  core->core = CoreHandle(library->api, made);
  core->library = std::move(library);
  return std::shared_ptr<const VendorCore>(core);
}

}  // namespace latebind::openvino

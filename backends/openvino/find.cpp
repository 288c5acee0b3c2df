#include "backends/openvino/find.h"

namespace latebind::openvino {

core::VendorLibrary vendor_library(core::System system, std::string_view architecture) {
  core::VendorLibrary library{
      .product = "OpenVINO",
      .install_command = core::pip_command("openvino", system),
      .stem = "openvino_c",
      .package_folder = "openvino/libs",
      .library_variables = {kLibraryVariable, kExecutorchVariable},
      .installation_variables = {"INTEL_OPENVINO_DIR"},
      .layouts = {"libs"},
      .system_places = {},
  };
  if (system == core::System::kWindows) {
    const std::string release = "bin/intel64/Release";
    library.layouts.insert(library.layouts.end(), {release, "runtime/" + release});
    for (const char* base : {"C:/Program Files (x86)/Intel", "C:/Program Files/Intel"}) {
      library.system_places.push_back({base, "openvino*/runtime/" + release});
    }
  } else {
    const std::string folder = architecture == "aarch64" ? "lib/aarch64" : "lib/intel64";
    library.layouts.insert(library.layouts.end(), {folder, "runtime/" + folder});
    library.system_places.push_back({"/opt/intel", "openvino*/runtime/" + folder});
  }
  return library;
}

}  // namespace latebind::openvino

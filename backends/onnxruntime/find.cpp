#include "backends/onnxruntime/find.h"

namespace latebind::onnxruntime {

core::VendorLibrary wanted_library(core::System system) {
  core::VendorLibrary wanted;
  wanted.product = "ONNX Runtime";
  wanted.install_command = core::pip_command("onnxruntime", system);
  wanted.stem = "onnxruntime";
  wanted.package_folder = "onnxruntime/capi";
  wanted.library_variables = {kLibraryVariable, "ORT_LIB_PATH", "ORT_DYLIB_PATH"};
  // The folder names of the vendor's archives: onnxruntime-linux-x64-1.31.1, onnxruntime-win-x64-1.31.1.
  if (system == core::System::kWindows) {
    wanted.system_places = {{"C:/Program Files", "onnxruntime*/lib"}, {"C:/Program Files", "onnxruntime*/bin"}};
  } else {
    wanted.system_places = {{"/opt", "onnxruntime*/lib"}, {"/usr/local", "onnxruntime*/lib"}};
  }
  return wanted;
}

}  // namespace latebind::onnxruntime

// Backend: the contract of the code that drives one vendor runtime.
//
// A backend is made before anything is known about the machine and loads nothing until the first question. Nothing is
// cached for ever: when the vendor's library was not there, the next call looks again. All calls are thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.h"
#include "core/executable.h"
#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

// One place where a vendor library was looked for, and what happened there: the trace that `latebind doctor` prints.
struct SearchStep {
  std::string place;    // a path, or a variable that is not set
  std::string source;   // which rule led there: "OPENVINO_LIB_PATH", "active Python environment" …
  std::string outcome;  // "opened", "no such file", or the loader's own words
  bool opened = false;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // "openvino": the word before the colon in a device's id.
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Ok when the vendor's library is open and usable. The first call may open it; cheap afterwards. The error says what
  // was tried, what was found and what to type.
  [[nodiscard]] virtual Status available() = 0;

  // Every device that is there now, asked anew at each call. An available backend without devices gives an empty list.
  [[nodiscard]] virtual Result<std::vector<Device>> devices() = 0;

  // The vendor's own version text. Fails when not available.
  [[nodiscard]] virtual Result<std::string> runtime_version() = 0;

  // Compiles for `device` (a Device::name), which need not be in this machine where the vendor's compiler allows it.
  [[nodiscard]] virtual Result<Blob> compile(const Model& model, std::string_view device,
                                             const CompileOptions& options) = 0;

  // Loads on a device that is there. kDeviceNotFound, kUnsupported, kInvalidModel, kDeviceFailed …
  [[nodiscard]] virtual Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                                 const CompileOptions& options) = 0;

  // As above, from a blob. kIncompatibleBlob when it was made for another version or device.
  [[nodiscard]] virtual Result<std::unique_ptr<Executable>> load(const Blob& blob, std::string_view device,
                                                                 const CompileOptions& options) = 0;

  // Every place looked at by the last attempt to open the library; looks first, if nothing did yet.
  [[nodiscard]] virtual std::vector<SearchStep> search_trace() = 0;

  // What to type to install the vendor's library, one line.
  [[nodiscard]] virtual std::string install_hint() const = 0;
};

}  // namespace latebind::core

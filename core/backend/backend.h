// Backend: the contract of the code that drives one vendor runtime. It has what every backend has; what only some have
// is a capability (core/backend/capabilities.h).
//
// A backend is created before anything is known about the machine and loads nothing until the first query. It does not
// cache failures: if the vendor's library was missing, the next call looks for it again. All functions may be called
// from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/capabilities.h"
#include "core/backend/device.h"
#include "core/backend/diagnosis.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  // The word before the colon in a device's id: "openvino".
  [[nodiscard]] virtual std::string_view name() const = 0;

  // Returns ok when the vendor's library is open and usable. The first call may open it; later calls are cheap. The
  // error says what was tried, what was found and what to type.
  [[nodiscard]] virtual Status available() = 0;

  // Returns the vendor's version string. Fails when the backend is not available.
  [[nodiscard]] virtual Result<std::string> runtime_version() = 0;

  // Returns every device that is present now. Each call queries the vendor. An available backend without devices
  // returns an empty list.
  [[nodiscard]] virtual Result<std::vector<Device>> devices() = 0;

  // Loads the model on a device that is present. Errors: kDeviceNotFound, kUnsupported, kInvalidModel, kDeviceFailed …
  [[nodiscard]] virtual Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                                 const CompileOptions& options) = 0;

  // Diagnoses the backend; each call queries the system. It looks for the library only if no call has done so yet.
  // `devices` is the result of a devices() call just made, with which the system's hardware is compared; null leaves
  // out the hardware, which takes time to examine.
  [[nodiscard]] virtual BackendDiagnosis diagnosis(const Result<std::vector<Device>>* devices) = 0;

  // (optional) Returns what the backend offers beyond this contract. The answer does not change, and costs nothing.
  [[nodiscard]] virtual Capabilities capabilities() { return {}; }
};

}  // namespace latebind::core

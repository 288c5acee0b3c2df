// The host's side of the contract: the functions that plug-ins call (lbb_host), the objects that slots receive, and the
// call of a slot.
//
// The objects live on the stack of the calling thread. One thread at a time uses each of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/plugin/contract.h"
#include "core/backend/device.h"
#include "core/backend/diagnosis.h"
#include "core/log.h"
#include "core/model/model.h"
#include "core/result.h"
#include "core/tensor/tensor.h"

// The error of a running slot.
struct lbb_error {
  std::string message{};
  std::optional<std::int64_t> vendor_code{};
  std::string vendor_text{};
  bool is_spoiled = false;
};

struct lbb_text {
  std::string text{};
};

struct lbb_bytes {
  std::string bytes{};
  latebind::core::LeftNodes left{};
};

struct lbb_devices {
  std::string backend{};
  // Of the plug-in, and its library's digest (may be empty): they are facts of each device.
  std::string version{};
  std::string digest{};
  std::vector<latebind::core::Device> devices{};
  std::vector<std::uint32_t> reads{};  // lbb_device.reads of each
  latebind::core::Status problem{};    // with the first device that was refused
};

struct lbb_diagnosis {
  latebind::core::BackendDiagnosis diagnosis{};
};

// The destination of one output of a run.
struct lbb_output {
  latebind::core::OutputTensor* to = nullptr;
  const latebind::core::TensorInfo* info = nullptr;
  latebind::core::Status problem{};
  bool is_prepared = false;
};

namespace latebind::plugin {

// The functions that plug-ins get. The same for all of them, as long as the process lives.
[[nodiscard]] const lbb_host& own_host();

// Makes the status of a slot that has returned `code`. A code that is none, and an error without a message, are named.
// `who` is the plug-in's name.
[[nodiscard]] core::Status status_of(lbb_code code, const lbb_error& error, std::string_view who, const char* slot);
// The status of a slot that has thrown the current exception: kInternal. For a catch (...).
[[nodiscard]] core::Status status_of_exception(std::string_view who, const char* slot);

// Calls a slot that can fail: `call` gets an lbb_error and returns the slot's code. Exceptions that leave the slot
// become an error. The plug-in's lines are logged when the slot has returned.
template <class Call>
[[nodiscard]] core::Status called(std::string_view who, const char* slot, lbb_error& error, const Call& call) {
  const core::LogHold hold;
  lbb_code code = LBB_INTERNAL;
  try {
    code = call(&error);
  } catch (...) {
    return status_of_exception(who, slot);
  }
  if (code == LBB_OK) return {};
  return status_of(code, error, who, slot);
}
template <class Call>
[[nodiscard]] core::Status called(std::string_view who, const char* slot, const Call& call) {
  lbb_error error;
  return called(who, slot, error, call);
}

// Calls a slot that cannot fail.
template <class Call>
[[nodiscard]] core::Status called_without_error(std::string_view who, const char* slot, const Call& call) {
  return called(who, slot, [&](lbb_error*) {
    call();
    return lbb_code{LBB_OK};
  });
}

}  // namespace latebind::plugin

// Objects of the host that a slot receives, announced to watching_host() and never freed, so that a plug-in that uses
// one later is noticed. The kit's processes are short.
#pragma once

#include <string_view>

#include "backends/plugin/host.h"
#include "core/status.h"
#include "kit/raw/watching_host.h"

namespace latebind::kit {

template <class T>
[[nodiscard]] T& kept() {
  return *new T;  // NOLINT(cppcoreguidelines-owning-memory): see above
}

// Calls a slot that can fail: `call` gets an lbb_error and returns the slot's code.
template <class Call>
[[nodiscard]] core::Status call_slot(std::string_view who, const char* slot, const Call& call) {
  auto& error = kept<lbb_error>();
  const Usable usable(&error, slot);
  return plugin::called(who, slot, error, call);
}

}  // namespace latebind::kit

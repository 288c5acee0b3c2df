// What the files with the vendor's functions share: the entry to every function, and the making and freeing of objects.
#pragma once

#include "tests/fakes/fake_openvino_state.h"
#include "tests/support/export.h"

#define FAKE LB_TEST_EXPORT

// Leaves the function when the script says so.
#define ENTER(name) \
  if (const auto lb_code = latebind::fake::enter(#name)) return *lb_code
#define ENTER_ON(name, device) \
  if (const auto lb_entry = latebind::fake::enter_on(#name, device); lb_entry.code) return *lb_entry.code
#define NEED(kind, object) \
  if (!latebind::fake::is_alive(kind, object)) return latebind::fake::fail(-1, "a dead " kind " was used")

// Declared as the backend thinks they are: a definition that differs is warned of, and the checks build with warnings
// as errors.
namespace latebind::openvino::abi {
#define LB_DECLARE(name, result, parameters) FAKE result name parameters;
LB_OPENVINO_REQUIRED(LB_DECLARE)
#undef LB_DECLARE
}  // namespace latebind::openvino::abi

namespace latebind::fake {

template <class T>
T* make(const char* kind) {
  T* object = new T;
  born(kind, object);
  return object;
}

template <class T>
void drop(const char* kind, T* object) {
  if (object != nullptr && dies(kind, object)) delete object;
}

// Texts are arrays.
inline void drop(const char* kind, const char* text) {
  if (text != nullptr && dies(kind, text)) delete[] text;
}
inline void drop(const char* kind, char* text) {
  drop(kind, static_cast<const char*>(text));
}

}  // namespace latebind::fake

// A program's values as reader.h returns them, and the errors of reading them. Used only within this folder; any
// thread.
#pragma once

#include <program_generated.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "formats/pte/reader.h"

namespace latebind::pte {

[[nodiscard]] core::Status damaged(const std::string& what);
[[nodiscard]] core::Status too_many(std::string_view what, std::uint64_t count, std::size_t most);

// The size of a list, which may be missing.
template <class T>
std::size_t count_of(const flatbuffers::Vector<T>* list) {
  return list == nullptr ? 0 : list->size();
}

// The values at the positions in `list`, at most `most`. `what` is their noun for messages.
[[nodiscard]] core::Result<std::vector<Value>> values_from(const executorch_flatbuffer::ExecutionPlan& plan,
                                                           const flatbuffers::Vector<std::int32_t>* list,
                                                           std::string_view what, std::size_t most);

}  // namespace latebind::pte

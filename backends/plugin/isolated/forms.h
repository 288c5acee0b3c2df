// Structs of the contract as messages (wire.h). Each pair of functions has the same fields in the same order. Pure
// functions and values, for any thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/plugin/isolated/wire.h"

namespace latebind::plugin {

void write_device(Writer& to, const lbb_device& device);
void write_active(Writer& to, const lbb_active& active);
void write_options(Writer& to, const lbb_options& options);

// A model as a message, without the bytes that no file has; `memory` takes these, one behind the other.
void write_model(Writer& to, const lbb_host& host, const lbb_model& model,
                 std::vector<std::span<const std::byte>>& memory);

// What was written, as a struct that belongs to the reader.
[[nodiscard]] const lbb_device* read_device(Reader& from);
[[nodiscard]] const lbb_active* read_description(Reader& from);
[[nodiscard]] const lbb_options* read_options(Reader& from);
[[nodiscard]] const lbb_pair* const* read_pairs(Reader& from, std::size_t& count);

}  // namespace latebind::plugin

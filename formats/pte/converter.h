// Converts a program for ExecuTorch's own OpenVINO backend into one for Latebind: the same bytes except for the
// delegates' id and, if requested, the payload. docs/decisions/0024-pte-files.md says which bytes change. Pure
// functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "formats/pte/program.h"
#include "formats/pte/reader.h"

namespace latebind::pte {

struct Conversion {
  // The ids must have the same length.
  std::string_view from = kStockBackendId;
  std::string_view to = kBackendId;
  // The new payload of every delegate with that id, which must all share a single payload. std::nullopt: payloads stay
  // unchanged.
  std::optional<Payload> payload{};
};

// What can be converted in a program.
struct Convertible {
  std::size_t delegates = 0;  // delegates with the id
  std::size_t payloads = 0;   // different payloads
  // The arguments of the first call of such a delegate in the first method that has one, inputs and outputs together.
  std::vector<Value> arguments{};
};

// Reads `file` as read_program() does, with its errors. Returns kNotFound if no delegate has the id. Returns
// kUnsupported, with the reason, for what cannot be changed without changing something else: several payloads, a
// payload or an id with other uses, overlapping segments, a program that would have 2 GiB or more.
[[nodiscard]] core::Result<Convertible> inspect_conversion(std::span<const std::byte> file,
                                                           const Conversion& conversion);

// Writes the converted program. The first error of the sink or of the payload ends the writing and is returned.
[[nodiscard]] core::Status convert_program(std::span<const std::byte> file, const Conversion& conversion,
                                           const Sink& sink);

}  // namespace latebind::pte

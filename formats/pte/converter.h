// Turns a program that ExecuTorch made for its own OpenVINO backend into one for Latebind: the same bytes except for
// the delegates' id and, if wanted, another payload. docs/decisions/0024-pte.md says which bytes change.
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
  // The new payload of every delegate with that id; nothing: they keep theirs. With one, all of them must share a
  // single payload.
  std::optional<Payload> payload{};
};

// What there is to convert.
struct Convertible {
  std::size_t delegates = 0;  // of the id
  std::size_t payloads = 0;   // different ones
  // Of the first method with such a delegate: the arguments of its call, inputs and outputs together.
  std::vector<Value> arguments{};
};

// `file` as for read_program(), with its errors. kNotFound when no delegate has the id; kUnsupported, with the
// reason, for what cannot be changed without changing something else: several payloads, a payload or an id that
// something else uses as well, segments that overlap, a program that would have 2 GiB or more.
[[nodiscard]] core::Result<Convertible> inspect_conversion(std::span<const std::byte> file,
                                                           const Conversion& conversion);

// Writes the converted program. An error of the sink or of the payload ends it and is returned.
[[nodiscard]] core::Status convert_program(std::span<const std::byte> file, const Conversion& conversion,
                                           const Sink& sink);

}  // namespace latebind::pte

// Programs of ExecuTorch's exporter after conversion. Apart from the runtime's headers, which declare flatbuffers'
// types of another version.
#pragma once

#include <string>

namespace latebind::pte::test {

// `payload`: what the stock delegates get instead of "a blob"; "": they keep that.
[[nodiscard]] std::string converted_stock_file(bool is_inline, const std::string& payload);

}  // namespace latebind::pte::test

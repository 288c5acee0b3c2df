#include "tests/formats/pte/real/converted.h"

#include "formats/pte/converter.h"
#include "tests/formats/pte/stock_program.h"

namespace latebind::pte::test {

std::string converted_stock_file(bool is_inline, const std::string& payload) {
  const AlignedBytes old(stock_file(is_inline, "a blob"));
  Conversion conversion;
  if (!payload.empty()) conversion.payload = Payload::of(std::as_bytes(std::span(payload)));
  std::string bytes;
  const core::Status status = convert_program(old.span(), conversion, [&](std::span<const std::byte> part) {
    bytes += text_of(part);
    return core::Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return bytes;
}

}  // namespace latebind::pte::test

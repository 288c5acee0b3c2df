// Fuzzes blobs of pjrt. Whatever the bytes are, they are a blob that is the same when it is written and read again, or
// are refused with a reason in one line.
//
// Changed bytes do not get beyond the sum. So bytes that do not begin like a blob are a header, up to the first NUL,
// and its one part, and are sealed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "backends/pjrt/blob.h"
#include "core/text/quote.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

bool is_same(const latebind::pjrt::BlobConstant& a, const latebind::pjrt::BlobConstant& b) {
  return a.dims == b.dims && a.element == b.element && std::ranges::equal(a.bytes, b.bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace core = latebind::core;
  namespace pjrt = latebind::pjrt;
  std::string blob(reinterpret_cast<const char*>(data), size);
  if (!blob.starts_with("LBPJRT")) {
    const std::size_t end = std::min(blob.find('\0'), blob.size());
    const std::array parts{bytes_of(blob).subspan(end)};
    blob = pjrt::seal_blob(blob.substr(0, end), parts);
  }
  const auto read = pjrt::read_blob(bytes_of(blob));
  if (!read.ok()) {
    require(read.status().code() == core::StatusCode::kIncompatibleBlob);
    const std::string reason(read.status().message());
    require(core::printable(reason, reason.size()) == reason);
    return 0;
  }
  require(!read->program.empty() && !read->outputs.empty());
  const std::string written = pjrt::write_blob(*read);
  const auto again = pjrt::read_blob(bytes_of(written));
  require(again.ok());
  require(again->origin == read->origin && again->inputs == read->inputs);
  require(std::ranges::equal(again->program, read->program));
  require(std::ranges::equal(again->constants, read->constants, is_same));
  return 0;
}

// Fuzzes the manifest of a plug-in. Whatever the text is, it is a manifest that is the same when it is written and read
// again, or is refused with a reason in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backends/plugin/found/manifest.h"
#include "core/text/quote.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace latebind;
  const auto read = plugin::parse_manifest({reinterpret_cast<const char*>(data), size}, "manifest.json");
  if (!read.ok()) {
    const std::string reason(read.status().message());
    require(core::printable(reason, reason.size()) == reason);
    return 0;
  }
  require(plugin::is_backend_name(read->name) && !read->library.empty() && !read->platform.empty());
  require(read->contract_least >= 1 && read->contract_least <= read->contract_most);
  const auto again = plugin::parse_manifest(plugin::to_json(*read).dump(), "again");
  require(again.ok() && *again == *read);
  return 0;
}

// Files that are stored as their difference from another file.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "core/bundle/package.h"
#include "core/bundle/package_state.h"
#include "core/bundle/refusals.h"
#include "core/bundle/vcdiff.h"
#include "core/platform/files/page_release.h"
#include "core/platform/huge_pages.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

// A file may be at most this many times as large as what it is made from. Otherwise a small bundle could use all
// memory.
constexpr std::uint64_t kGrowthMax = 4;
// The alignment in a ZIP and in a mapping, because drivers that use a blob in place need whole pages.
constexpr std::size_t kAlignment = 4096;

}  // namespace

Status Package::check_difference(const Variant& variant) const {
  const StoredDifference& difference = *variant.latebind->difference;
  LB_ASSIGN_OR_RETURN(const std::string from, resolve(variant, difference.from));
  const auto source = files().read(from);
  if (source.status().code() == StatusCode::kNotFound) {
    return invalid_bundle("'difference'",
                          fmt::format("'{}', which its model is made from, is missing", printable(from)));
  }
  LB_RETURN_IF_ERROR(source.status());
  LB_ASSIGN_OR_RETURN(const SharedBytes stored, open_file(variant, difference.file));
  const std::uint64_t most = kGrowthMax * (std::uint64_t{source->bytes.size()} + stored.bytes.size());
  if (difference.bytes <= most) return {};
  return invalid_bundle("'difference'",
                        fmt::format("it makes {} bytes of {} and {}, which is more than {} times as many",
                                    difference.bytes, source->bytes.size(), stored.bytes.size(), kGrowthMax));
}

Result<SharedBytes> Package::make_whole(const Variant& variant) const {
  const StoredDifference& difference = *variant.latebind->difference;
  LB_RETURN_IF_ERROR(check_difference(variant));
  LB_ASSIGN_OR_RETURN(const SharedBytes source, open_file(variant, difference.from));
  LB_ASSIGN_OR_RETURN(const SharedBytes stored, open_file(variant, difference.file));
  const std::shared_ptr<std::byte> memory = platform::large_memory(difference.bytes, kAlignment);
  const std::span<std::byte> whole(memory.get(), difference.bytes);
  LB_RETURN_IF_ERROR(apply_vcdiff(
      source.bytes, stored.bytes, whole,
      fmt::format("{}: variant '{}': '{}'", files().name(), printable(variant.name), printable(difference.file))));
  // Little of the mapping is read again.
  platform::release_pages(source.bytes);
  return SharedBytes{memory, whole};
}

Result<SharedBytes> Package::make_checked_whole(const Variant& variant) const {
  const StoredDifference& difference = *variant.latebind->difference;
  LB_RETURN_IF_ERROR(open_checked_file(variant, difference.from).status());
  LB_RETURN_IF_ERROR(open_checked_file(variant, difference.file).status());
  return make_whole(variant);
}

}  // namespace latebind::core

#include "core/bundle/share_blobs.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/bundle/asset.h"
#include "core/bundle/choose.h"
#include "core/bundle/vcdiff.h"
#include "core/platform/digest.h"

namespace latebind::core {
namespace {

// Smaller blobs are not shared.
constexpr std::size_t kBlobMin = std::size_t{16} << 10;
// A difference is used only if it is at most 1/kWorthIt of the blob.
constexpr std::size_t kWorthIt = 2;
// The number of other blobs of one backend with which a blob is compared.
constexpr std::size_t kSourcesMax = 4;

bool takes_part(const VariantInput& variant) {
  return variant.latebind && variant.latebind->is_copied && !variant.latebind->difference &&
         variant.files.size() == 1 && variant.files.front().path == variant.latebind->model &&
         variant.files.front().bytes.bytes.size() >= kBlobMin;
}

// A blob that is stored whole, and those that differ little from it.
struct Source {
  VariantInput* variant = nullptr;
  std::vector<std::pair<VariantInput*, std::string>> others{};
};

void find_source(VariantInput& variant, std::vector<Source>& sources) {
  const std::span<const std::byte> bytes = variant.files.front().bytes.bytes;
  std::size_t tried = 0;
  for (Source& source : sources) {
    if (source.variant->latebind->backend != variant.latebind->backend || tried++ == kSourcesMax) continue;
    auto difference = vcdiff_of(source.variant->files.front().bytes.bytes, bytes, bytes.size() / kWorthIt);
    if (!difference) continue;
    source.others.emplace_back(&variant, *std::move(difference));
    return;
  }
  sources.push_back({&variant});
}

// Moves the variant's file into an asset, from which it is then loaded. Returns the reference to it.
std::string make_asset(VariantInput& variant, Assets& assets) {
  LatebindInfo& info = *variant.latebind;
  const std::string uri = asset_uri({{info.model, info.files.front().sha256}});
  const std::string reference = uri + "/" + info.model;
  assets.try_emplace(uri, std::move(variant.files));
  variant.files.clear();
  info.files.clear();
  info.model = reference;
  if (const auto host = variant.executor_info.find(kHostSlot); host != variant.executor_info.end()) {
    host->second[kHostModelFile] = reference;
  }
  return reference;
}

void make_difference(VariantInput& variant, std::string difference, const std::string& from) {
  LatebindInfo& info = *variant.latebind;
  StoredDifference stored;
  stored.file = info.model + ".vcdiff";
  stored.from = from;
  stored.bytes = info.files.front().bytes;
  stored.sha256 = std::move(info.files.front().sha256);
  // Cleared, because stock ONNX Runtime would look for the whole file.
  stored.ep = std::exchange(variant.ep, {});
  if (auto host = variant.executor_info.extract(kHostSlot)) stored.host = std::move(host.mapped());
  const SharedBytes bytes = SharedBytes::from_string(std::move(difference));
  info.files = {{stored.file, bytes.bytes.size(), platform::sha256_hex(bytes.bytes)}};
  variant.files = {{stored.file, bytes}};
  info.difference = std::move(stored);
}

}  // namespace

void share_blobs(Variants& variants, Assets& assets) {
  std::vector<Source> sources;
  for (auto& [name, variant] : variants) {
    if (takes_part(variant)) find_source(variant, sources);
  }
  for (Source& source : sources) {
    if (source.others.empty()) continue;
    const std::string from = make_asset(*source.variant, assets);
    for (auto& [variant, difference] : source.others)
      make_difference(*variant, std::move(difference), from);
  }
}

}  // namespace latebind::core

#include "core/backend/device_traits.h"

#include <algorithm>
#include <array>

namespace latebind::core {
namespace {

constexpr std::string_view kPrecisions = "Precisions";
constexpr std::string_view kGraphsOnly = "GraphsOnly";
constexpr std::string_view kStaticShapes = "StaticShapes";
constexpr std::string_view kPreferredIn = "PreferredIn";
constexpr std::string_view kPreferredBecause = "PreferredBecause";
constexpr std::string_view kArchitecture = "Architecture";
constexpr std::string_view kProvider = "Provider";
constexpr std::string_view kPciId = "PciId";
constexpr std::string_view kIsVirtual = "IsVirtual";
constexpr std::string_view kDiscoveredBy = "DiscoveredBy";
constexpr std::string_view kCompilerInstalled = "CompilerInstalled";
constexpr std::string_view kMissing = "Missing";
constexpr std::string_view kEmulated = "Emulated";

constexpr std::array kWords{kPrecisions,        kGraphsOnly, kStaticShapes, kPreferredIn, kPreferredBecause,
                            kArchitecture,      kProvider,   kPciId,        kIsVirtual,   kDiscoveredBy,
                            kCompilerInstalled, kMissing,    kEmulated};

}  // namespace

bool DeviceTraits::computes_in(Precision precision) const {
  return std::ranges::find(precisions, precision) != precisions.end();
}

bool DeviceTraits::is_preferred_in(Precision precision) const {
  return std::ranges::find(preferred_in, precision) != preferred_in.end();
}

std::map<std::string, std::string> texts_of(const DeviceTraits& traits, const std::string& backend) {
  std::map<std::string, std::string> texts;
  const auto add = [&](std::string_view word, std::string text) {
    if (!text.empty()) texts.emplace(word, std::move(text));
  };
  add(kPrecisions, words_of(traits.precisions));
  add(kGraphsOnly, traits.graphs_only ? "1" : "");
  add(kStaticShapes, traits.static_shapes ? "1" : "");
  add(kPreferredIn, words_of(traits.preferred_in));
  add(kPreferredBecause, traits.preferred_because);
  add(kArchitecture, traits.architecture);
  add(kProvider, traits.provider);
  add(kPciId, traits.pci_id);
  if (!traits.virtual_device) return texts;
  const VirtualTraits& target = *traits.virtual_device;
  add(kIsVirtual, "1");
  add(kDiscoveredBy, backend);
  // Without its compiler's state, nothing is known about an emulator either.
  if (target.compiler == TargetCompiler::kUnknown) return texts;
  add(kCompilerInstalled, target.compiler == TargetCompiler::kInstalled ? "1" : "0");
  add(kMissing, target.missing);
  add(kEmulated, target.is_emulated ? "1" : "0");
  return texts;
}

bool is_trait_word(std::string_view word) {
  return std::ranges::find(kWords, word) != kWords.end();
}

std::string words_of(const std::vector<Precision>& precisions) {
  std::string words;
  for (const Precision precision : precisions) {
    if (!words.empty()) words += ',';
    words += word_of(precision);
  }
  return words;
}

}  // namespace latebind::core

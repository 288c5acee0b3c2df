#include "backends/openvino/load.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/openvino/find.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"

namespace latebind::openvino {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kVendorTextMax = std::size_t{1} << 16;
constexpr std::size_t kNamedSymbolsMax = 5;
// oneDNN in the CPU plugin caches primitives for up to 1,024 combinations of layer and shape. A quarter of that saves a
// hundred megabytes, and costs no speed with texts of all lengths.
constexpr const char* kPrimitivesVariable = "ONEDNN_PRIMITIVE_CACHE_CAPACITY";
constexpr const char* kPrimitives = "256";

std::string strip_end(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ' || text.back() == '\0')) {
    text.pop_back();
  }
  return text;
}

template <class F>
void resolve(const platform::DynamicLibrary& file, const char* name, F*& slot) {
  slot = reinterpret_cast<F*>(file.symbol(name));
}

// Year and release from "2026.4.1-22982-…"; std::nullopt for text of another form.
std::optional<std::pair<unsigned, unsigned>> parse_version(std::string_view text) {
  unsigned year = 0;
  unsigned release = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, year);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, release).ec != std::errc()) return std::nullopt;
  return std::pair(year, release);
}

Status check_version(const std::string& file, std::string_view version) {
  const auto parsed = parse_version(version);
  if (!parsed) {
    return Status(StatusCode::kLibraryUnusable,
                  fmt::format("{} reports version '{}', which is not a version of OpenVINO", file, version));
  }
  if (*parsed < std::pair(kOldestYear, kOldestRelease)) {
    return Status(StatusCode::kLibraryUnusable,
                  fmt::format("{} is OpenVINO {}, which is too old: {}.{} or newer is needed", file, version,
                              kOldestYear, kOldestRelease));
  }
  return {};
}

// Asks for the size of type 5, which is f32 in the older numbering and f64 in the newer one. Asking the library is more
// reliable than a list of versions.
Result<ElementNumbering> ask_numbering(const std::string& file, const abi::Api& api) {
  double memory = 0;
  std::int64_t dim = 1;
  abi::Tensor* tensor = nullptr;
  std::size_t bytes = 0;
  if (api.ov_tensor_create_from_host_ptr(5, abi::Shape{1, &dim}, &memory, &tensor) == abi::kOk) {
    (void)api.ov_tensor_get_byte_size(tensor, &bytes);
    api.ov_tensor_free(tensor);
  }
  if (bytes == 4) return ElementNumbering::k2024;
  if (bytes == 8) return ElementNumbering::k2025;
  return Status(StatusCode::kLibraryUnusable,
                fmt::format("{} numbers its element types in a way that this version of Latebind does not know", file));
}

}  // namespace

Status Library::error(StatusCode code, std::string message, abi::Code vendor_code) const {
  std::string text;
  // The vendor records no text for a rejected parameter: its last text belongs to an earlier call.
  if (vendor_code != abi::kInvalidParameter) {
    if (const char* last = api.ov_get_last_err_msg()) {
      text = strip_end(std::string(last).substr(0, kVendorTextMax));
      api.ov_free(last);
    }
  }
  if (text.empty()) {
    const char* info = api.ov_get_error_info(vendor_code);
    text = info != nullptr ? info : "";
  }
  if (core::reports_out_of_memory(text)) code = StatusCode::kOutOfMemory;
  return Status::from_vendor(code, std::move(message), vendor_code, std::move(text));
}

Result<std::shared_ptr<const Library>> open_library(const std::string& file) {
  // Read when the library creates its first primitive.
  platform::set_environment_default(kPrimitivesVariable, kPrimitives);
  LB_ASSIGN_OR_RETURN(auto opened, platform::DynamicLibrary::open(platform::path_from_utf8(file)));
  abi::Api api;

  // The version comes first: "too old" says more than a list of missing functions.
  std::string version;
  resolve(opened, "ov_get_openvino_version", api.ov_get_openvino_version);
  resolve(opened, "ov_version_free", api.ov_version_free);
  if (api.ov_get_openvino_version != nullptr && api.ov_version_free != nullptr) {
    abi::Version given{};
    if (const auto code = api.ov_get_openvino_version(&given); code != abi::kOk) {
      return Status::from_vendor(StatusCode::kLibraryUnusable, fmt::format("{} does not report its version", file),
                                 code, "");
    }
    version = given.build_number != nullptr ? given.build_number : "";
    api.ov_version_free(&given);
    LB_RETURN_IF_ERROR(check_version(file, version));
  }

  std::vector<std::string_view> missing;
  std::size_t count = 0;
#define LB_RESOLVE(name, result, parameters) \
  resolve(opened, #name, api.name);          \
  ++count;                                   \
  if (api.name == nullptr) missing.emplace_back(#name);
  LB_OPENVINO_REQUIRED(LB_RESOLVE)
#undef LB_RESOLVE
  if (!missing.empty()) {
    std::string names;
    for (std::size_t i = 0; i < missing.size() && i < kNamedSymbolsMax; ++i) {
      names += fmt::format("{}{}", i > 0 ? ", " : "", missing[i]);
    }
    if (missing.size() > kNamedSymbolsMax) names += ", …";
    return Status(StatusCode::kLibraryUnusable,
                  fmt::format("{} lacks {} of the {} functions needed: {}", file, missing.size(), count, names));
  }
#define LB_RESOLVE(name, result, parameters) resolve(opened, #name, api.name);
  LB_OPENVINO_OPTIONAL(LB_RESOLVE)
#undef LB_RESOLVE

  LB_ASSIGN_OR_RETURN(const ElementNumbering numbering, ask_numbering(file, api));
  opened.leak();
  return std::shared_ptr<const Library>(std::make_shared<const Library>(
      Library{.api = api, .file = file, .version = version, .element_types = ElementTypes(numbering)}));
}

std::unique_ptr<Loader> make_loader(std::string explicit_path) {
  const auto wanted = vendor_library(core::own_system(), core::own_architecture());
  return std::make_unique<Loader>(
      wanted, [wanted, path = std::move(explicit_path)] { return core::SearchFacts::gather(wanted, path); },
      open_library);
}

}  // namespace latebind::openvino

#include "backends/onnxruntime/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/platform/dynamic_library.h"
#include "core/platform/environment.h"
#include "core/platform/files/folders.h"

namespace latebind::onnxruntime {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr const char* kTelemetryVariable = "ORT_DISABLE_TELEMETRY";
constexpr std::size_t kVendorTextMax = std::size_t{1} << 16;
constexpr std::size_t kNamedSlotsMax = 5;

struct Version {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

// The version in "1.31.1" or "1.32.0-dev…"; std::nullopt for text of another form.
std::optional<Version> parse_version(std::string_view text) {
  Version version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  if (std::from_chars(major.ptr + 1, end, version.minor).ec != std::errc()) return std::nullopt;
  return version;
}

// The newest version of the interface that both sides know. The library is never asked for a version that it lacks,
// since it would print an error to stderr.
Result<std::uint32_t> choose_api(const std::string& file, std::string_view text) {
  const auto version = parse_version(text);
  if (!version) {
    return Status(StatusCode::kLibraryUnusable,
                  fmt::format("{} reports version '{}', which is not a version of ONNX Runtime", file, text));
  }
  if (version->major == 0 || (version->major == 1 && version->minor < abi::kOldestApi)) {
    return Status(StatusCode::kLibraryUnusable,
                  fmt::format("{} is ONNX Runtime {}, which is too old: 1.{} or newer is needed ({})", file, text,
                              abi::kOldestApi, core::pip_command("onnxruntime", core::own_system())));
  }
  return version->major > 1 ? abi::kNewestApi : std::min(version->minor, abi::kNewestApi);
}

template <class F>
void take(const abi::Slot* table, std::size_t slot, F*& function) {
  function = reinterpret_cast<F*>(table[slot]);
}

// Takes the functions that a library of this version has; the others stay null.
void take_plugin_slots(const abi::Slot* table, Library& library) {
  const auto reaches = [&](std::uint32_t since) { return library.api_version >= since; };
#define LB_TAKE(slot, name, since, result, parameters) \
  if (reaches(since)) take(table, slot, library.plugin.name);
  LB_ONNXRUNTIME_PLUGIN(LB_TAKE)
  if (library.plugin.GetCompileApi == nullptr) return;
  const auto* compile_table = reinterpret_cast<const abi::Slot*>(library.plugin.GetCompileApi());
  // Null in a build without the compiler.
  if (compile_table == nullptr) return;
  table = compile_table;
  LB_ONNXRUNTIME_COMPILE(LB_TAKE)
#undef LB_TAKE
}

}  // namespace

Status Library::error(StatusCode code, std::string message, abi::Status* failure) const {
  const std::int64_t vendor_code = api.GetErrorCode(failure);
  const char* given = api.GetErrorMessage(failure);
  std::string text = given != nullptr ? std::string(given).substr(0, kVendorTextMax) : std::string();
  api.ReleaseStatus(failure);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  return Status::from_vendor(code, std::move(message), vendor_code, std::move(text));
}

Status Library::error_by_kind(StatusCode otherwise, std::string message, abi::Status* failure) const {
  StatusCode code = otherwise;
  switch (api.GetErrorCode(failure)) {
    case abi::kNoSuchFile:
      code = StatusCode::kNotFound;
      break;
    case abi::kInvalidProtobuf:
    case abi::kInvalidGraph:
      code = StatusCode::kInvalidModel;
      break;
    case abi::kNotImplemented:
      code = StatusCode::kUnsupported;
      break;
    default:
      break;
  }
  // The vendor has no codes for a lack of resources, so its text is examined.
  const char* given = api.GetErrorMessage(failure);
  const std::string_view text = given != nullptr ? given : "";
  if (core::reports_out_of_memory(text)) code = StatusCode::kOutOfMemory;
  if (text.find("pthread_create failed") != std::string_view::npos) code = StatusCode::kDeviceFailed;
  return error(code, std::move(message), failure);
}

Result<std::shared_ptr<const Library>> open_library(const std::string& file) {
  // Must be set before the library is opened: creating its environment stores an event and a device id, and only
  // afterwards can telemetry be disabled by a call.
  platform::set_environment_default(kTelemetryVariable, "1");
  LB_ASSIGN_OR_RETURN(auto opened, platform::DynamicLibrary::open(platform::path_from_utf8(file)));
  const auto get_base = reinterpret_cast<abi::GetApiBase>(opened.symbol(abi::kEntryPoint));
  const abi::ApiBase* base = get_base != nullptr ? get_base() : nullptr;
  if (base == nullptr || base->GetApi == nullptr || base->GetVersionString == nullptr) {
    return Status(StatusCode::kLibraryUnusable, fmt::format("{} is not ONNX Runtime: {} {}", file, abi::kEntryPoint,
                                                            get_base == nullptr ? "is missing" : "gives nothing"));
  }
  const char* text = base->GetVersionString();
  Library library;
  library.file = file;
  library.version = text != nullptr ? text : "";
  LB_ASSIGN_OR_RETURN(library.api_version, choose_api(file, library.version));
  const abi::Slot* table = base->GetApi(library.api_version);
  if (table == nullptr) {
    return Status(StatusCode::kLibraryUnusable,
                  fmt::format("{} reports ONNX Runtime {} but does not offer the interface of 1.{}", file,
                              library.version, library.api_version));
  }

  std::vector<std::string_view> missing;
#define LB_TAKE(slot, name, since, result, parameters) \
  static_assert((since) <= abi::kOldestApi);           \
  take(table, slot, library.api.name);                 \
  if (library.api.name == nullptr) missing.emplace_back(#name);
  LB_ONNXRUNTIME_REQUIRED(LB_TAKE)
#undef LB_TAKE
  if (!missing.empty()) {
    std::string names;
    for (std::size_t i = 0; i < missing.size() && i < kNamedSlotsMax; ++i) {
      names += fmt::format("{}{}", i > 0 ? ", " : "", missing[i]);
    }
    if (missing.size() > kNamedSlotsMax) names += ", …";
    return Status(StatusCode::kLibraryUnusable,
                  fmt::format("{} lacks {} of the functions needed: {}", file, missing.size(), names));
  }
#define LB_TAKE(slot, name, since, result, parameters) \
  if (library.api_version >= (since)) take(table, slot, library.api.name);
  LB_ONNXRUNTIME_OPTIONAL(LB_TAKE)
#undef LB_TAKE
  take_plugin_slots(table, library);

  opened.leak();
  return std::shared_ptr<const Library>(std::make_shared<const Library>(std::move(library)));
}

}  // namespace latebind::onnxruntime

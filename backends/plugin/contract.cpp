#include "backends/plugin/contract.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "core/backend/device.h"
#include "core/backend/executable.h"
#include "core/config.h"
#include "core/text/ascii.h"
#include "core/text/utf8.h"

namespace latebind::plugin {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::array kCodes{StatusCode::kOk,
                            StatusCode::kInvalidArgument,
                            StatusCode::kNotFound,
                            StatusCode::kInvalidModel,
                            StatusCode::kShapeMismatch,
                            StatusCode::kTypeMismatch,
                            StatusCode::kCountMismatch,
                            StatusCode::kUnsupported,
                            StatusCode::kBufferTooSmall,
                            StatusCode::kLibraryNotFound,
                            StatusCode::kLibraryUnusable,
                            StatusCode::kDeviceNotFound,
                            StatusCode::kIncompatibleBlob,
                            StatusCode::kPermissionDenied,
                            StatusCode::kIo,
                            StatusCode::kBusy,
                            StatusCode::kDeadlineExceeded,
                            StatusCode::kOutOfMemory,
                            StatusCode::kDiskFull,
                            StatusCode::kDeviceFailed,
                            StatusCode::kCancelled,
                            StatusCode::kInternal};

// The numbers of the contract are those of core/.
template <class T>
constexpr bool is(T value, int number) {
  return static_cast<int>(value) == number;
}
static_assert(is(StatusCode::kOk, LBB_OK) && is(StatusCode::kInvalidArgument, LBB_INVALID_ARGUMENT) &&
              is(StatusCode::kNotFound, LBB_NOT_FOUND) && is(StatusCode::kInvalidModel, LBB_INVALID_MODEL) &&
              is(StatusCode::kShapeMismatch, LBB_SHAPE_MISMATCH) && is(StatusCode::kTypeMismatch, LBB_TYPE_MISMATCH) &&
              is(StatusCode::kCountMismatch, LBB_COUNT_MISMATCH) && is(StatusCode::kUnsupported, LBB_UNSUPPORTED) &&
              is(StatusCode::kBufferTooSmall, LBB_BUFFER_TOO_SMALL) &&
              is(StatusCode::kLibraryNotFound, LBB_LIBRARY_NOT_FOUND) &&
              is(StatusCode::kLibraryUnusable, LBB_LIBRARY_UNUSABLE) &&
              is(StatusCode::kDeviceNotFound, LBB_DEVICE_NOT_FOUND) &&
              is(StatusCode::kIncompatibleBlob, LBB_INCOMPATIBLE_BLOB) &&
              is(StatusCode::kPermissionDenied, LBB_PERMISSION_DENIED) && is(StatusCode::kIo, LBB_IO) &&
              is(StatusCode::kBusy, LBB_BUSY) && is(StatusCode::kDeadlineExceeded, LBB_DEADLINE_EXCEEDED) &&
              is(StatusCode::kOutOfMemory, LBB_OUT_OF_MEMORY) && is(StatusCode::kDiskFull, LBB_DISK_FULL) &&
              is(StatusCode::kDeviceFailed, LBB_DEVICE_FAILED) && is(StatusCode::kCancelled, LBB_CANCELLED) &&
              is(StatusCode::kInternal, LBB_INTERNAL));
using core::ElementType;
static_assert(is(ElementType::kBool, LBB_BOOL) && is(ElementType::kI8, LBB_I8) && is(ElementType::kU8, LBB_U8) &&
              is(ElementType::kI16, LBB_I16) && is(ElementType::kU16, LBB_U16) && is(ElementType::kI32, LBB_I32) &&
              is(ElementType::kU32, LBB_U32) && is(ElementType::kI64, LBB_I64) && is(ElementType::kU64, LBB_U64) &&
              is(ElementType::kF16, LBB_F16) && is(ElementType::kBF16, LBB_BF16) && is(ElementType::kF32, LBB_F32) &&
              is(ElementType::kF64, LBB_F64));
using core::Precision;
static_assert(is(Precision::kF32, LBB_PRECISION_F32) && is(Precision::kBF16, LBB_PRECISION_BF16) &&
              is(Precision::kF16, LBB_PRECISION_F16) && is(Precision::kInt8, LBB_PRECISION_INT8) &&
              is(Precision::kFast, LBB_PRECISION_FAST));
using core::DeviceKind;
static_assert(is(DeviceKind::kCpu, LBB_KIND_CPU) && is(DeviceKind::kGpu, LBB_KIND_GPU) &&
              is(DeviceKind::kNpu, LBB_KIND_NPU) && is(DeviceKind::kOther, LBB_KIND_OTHER));
using core::PerformanceHint;
static_assert(is(PerformanceHint::kLatency, 0) && is(PerformanceHint::kThroughput, 1));
using core::HostNodes;
static_assert(is(HostNodes::kNone, 0) && is(HostNodes::kIntegers, 1) && is(HostNodes::kAny, 2));
static_assert(LBB_RANK_MAX == core::kRankMax && LBB_DYNAMIC == core::kDynamic);

}  // namespace

Status breach(std::string text) {
  return Status(StatusCode::kInternal, std::move(text));
}

lbb_code code_of(StatusCode code) {
  return std::ranges::find(kCodes, code) == kCodes.end() ? LBB_INTERNAL : static_cast<lbb_code>(code);
}

std::optional<StatusCode> status_code_of(lbb_code code) {
  const auto found = std::ranges::find(kCodes, static_cast<StatusCode>(code));
  return found == kCodes.end() ? std::nullopt : std::optional(*found);
}

Result<std::string> text_of(std::string_view what, const char* text, std::size_t size_max) {
  if (text == nullptr) return breach(fmt::format("{} is null", what));
  const void* const end = std::memchr(text, '\0', size_max + 1);
  if (end == nullptr) return breach(fmt::format("{} is longer than {} bytes", what, size_max));
  std::string read(text, static_cast<const char*>(end));
  if (core::find_invalid_utf8(read)) return breach(fmt::format("{} is not UTF-8", what));
  return read;
}

Result<std::string> optional_text_of(std::string_view what, const char* text, std::size_t size_max) {
  if (text == nullptr) return std::string();
  return text_of(what, text, size_max);
}

Result<core::Shape> shape_of(std::string_view what, const std::int64_t* dims, std::size_t rank) {
  if (rank > core::kRankMax) return breach(fmt::format("{} has {} dimensions", what, rank));
  if (rank > 0 && dims == nullptr) return breach(fmt::format("{} has a rank, but no dimensions", what));
  auto shape = core::Shape::make({dims, rank});
  if (!shape.ok()) return breach(fmt::format("{} has no shape: {}", what, shape.status().message()));
  return shape;
}

Result<core::ElementType> type_of(std::string_view what, std::int32_t type) {
  if (core::size_of(static_cast<ElementType>(type)) == 0) {
    return breach(fmt::format("{} has the element type {}, which is none", what, type));
  }
  return static_cast<ElementType>(type);
}

bool is_identifier(std::string_view text) {
  constexpr std::size_t kSizeMax = 32;
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && text.size() <= kSizeMax && is_lower(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_lower(c) || core::is_ascii_digit(c) || c == '_'; });
}

}  // namespace latebind::plugin

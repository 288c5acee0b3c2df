#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "core/platform/files/file_identity_os.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/windows_path.h"
#include "core/platform/os_error.h"
#include "core/platform/windows_error.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;

}  // namespace

core::Result<MappedFile> MappedFile::open(const std::filesystem::path& file) {
  LB_RETURN_IF_ERROR(check_path("read", file));
  const DWORD attributes = ::GetFileAttributesW(long_path(file).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return status_of_windows_error("read", file, ::GetLastError());
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("cannot read {}: it is a folder, not a file", quoted(file)));
  }
  const WindowsHandle handle(::CreateFileW(long_path(file).c_str(), GENERIC_READ,
                                           FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                           OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!handle.is_open()) return status_of_windows_error("read", file, ::GetLastError());
  if (::GetFileType(handle.get()) != FILE_TYPE_DISK) {
    return Status(StatusCode::kInvalidArgument, fmt::format("cannot read {}: it is not a regular file", quoted(file)));
  }
  LARGE_INTEGER size{};
  if (::GetFileSizeEx(handle.get(), &size) == 0) return status_of_windows_error("read", file, ::GetLastError());
  if (static_cast<std::uint64_t>(size.QuadPart) > std::numeric_limits<std::size_t>::max()) {
    return status_of_windows_error("map", file, ERROR_NOT_ENOUGH_MEMORY);
  }

  MappedFile mapped;
  mapped.file_ = file;
  LB_ASSIGN_OR_RETURN(mapped.identity_, identity_of_open_file(reinterpret_cast<std::intptr_t>(handle.get()), file));
  if (size.QuadPart == 0) return mapped;  // Windows refuses to map nothing
  const WindowsHandle mapping(::CreateFileMappingW(handle.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
  if (!mapping.is_open()) return status_of_windows_error("map", file, ::GetLastError());
  // The view keeps the mapping and the file alive.
  const void* data = ::MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, 0);
  if (data == nullptr) return status_of_windows_error("map", file, ::GetLastError());
  mapped.data_ = {static_cast<const std::byte*>(data), Unmap{static_cast<std::size_t>(size.QuadPart)}};
  return mapped;
}

core::Result<MappedFile> MappedFile::with_tail(const FileRange& part, const FileIdentity& identity,
                                               std::span<const std::byte> bytes, std::span<const std::byte> tail) {
  const std::size_t offset = tail_offset(bytes.size());
  if (offset < bytes.size() || offset + tail.size() < offset) {
    return status_of_windows_error("map", part.file, ERROR_NOT_ENOUGH_MEMORY);
  }
  MappedFile joined;
  joined.file_ = part.file;
  joined.identity_ = identity;
  if (offset + tail.size() == 0) return joined;
  void* data = ::VirtualAlloc(nullptr, offset + tail.size(), MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (data == nullptr) return status_of_windows_error("map", part.file, ::GetLastError());
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  if (!tail.empty()) std::memcpy(static_cast<std::byte*>(data) + offset, tail.data(), tail.size());
  joined.data_ = {static_cast<const std::byte*>(data), Unmap{offset + tail.size()}};
  return joined;
}

// The data is a view of a file or allocated memory; the system knows which.
void MappedFile::Unmap::operator()(const std::byte* data) const noexcept {
  MEMORY_BASIC_INFORMATION info{};
  if (::VirtualQuery(data, &info, sizeof(info)) != 0 && info.Type == MEM_MAPPED) {
    ::UnmapViewOfFile(data);
  } else {
    ::VirtualFree(const_cast<std::byte*>(data), 0, MEM_RELEASE);
  }
}

}  // namespace latebind::platform

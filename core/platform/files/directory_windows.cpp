// Replaces the functions with which std::filesystem lists folders. mingw-w64's own have room for paths of 260
// characters, and list the current folder instead of a longer path. The linker takes these (see CMakeLists.txt) for
// every folder that the program lists.
#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <new>
#include <string_view>

#include "core/platform/files/windows_path.h"
#include "core/platform/windows_error.h"

namespace {

struct Listing {
  HANDLE handle = INVALID_HANDLE_VALUE;
  bool is_first = true;
  WIN32_FIND_DATAW found{};
  _wdirent entry{};
};

int errno_of(DWORD error) {
  switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
      return ENOENT;
    case ERROR_DIRECTORY:
      return ENOTDIR;
    case ERROR_ACCESS_DENIED:
      return EACCES;
    case ERROR_NOT_ENOUGH_MEMORY:
      return ENOMEM;
    default:
      return EIO;
  }
}

Listing* listing_of(_WDIR* folder) {
  return reinterpret_cast<Listing*>(folder);
}

}  // namespace

extern "C" {

_WDIR* _wopendir(const wchar_t* name) {
  if (name == nullptr || *name == L'\0') {
    errno = name == nullptr ? EFAULT : ENOENT;
    return nullptr;
  }
  const DWORD attributes = ::GetFileAttributesW(latebind::platform::long_path(name).c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES || (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    errno = attributes == INVALID_FILE_ATTRIBUTES ? errno_of(::GetLastError()) : ENOTDIR;
    return nullptr;
  }
  auto* const listing = new (std::nothrow) Listing;
  if (listing == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  const auto pattern = latebind::platform::long_path(std::filesystem::path(name) / L"*");
  listing->handle = ::FindFirstFileExW(pattern.c_str(), FindExInfoBasic, &listing->found, FindExSearchNameMatch,
                                       nullptr, FIND_FIRST_EX_LARGE_FETCH);
  // The root of a drive may be completely empty, without an entry for itself.
  if (listing->handle == INVALID_HANDLE_VALUE && ::GetLastError() != ERROR_FILE_NOT_FOUND) {
    errno = errno_of(::GetLastError());
    delete listing;
    return nullptr;
  }
  return reinterpret_cast<_WDIR*>(listing);
}

_wdirent* _wreaddir(_WDIR* folder) {
  Listing& listing = *listing_of(folder);
  if (listing.handle == INVALID_HANDLE_VALUE) return nullptr;
  if (!listing.is_first && ::FindNextFileW(listing.handle, &listing.found) == 0) {
    if (::GetLastError() != ERROR_NO_MORE_FILES) errno = errno_of(::GetLastError());
    return nullptr;
  }
  listing.is_first = false;
  const std::wstring_view name(listing.found.cFileName);
  const std::size_t size = std::min(name.size(), std::size(listing.entry.d_name) - 1);
  std::copy_n(name.begin(), size, std::begin(listing.entry.d_name));
  listing.entry.d_name[size] = L'\0';
  listing.entry.d_namlen = static_cast<unsigned short>(size);
  return &listing.entry;
}

int _wclosedir(_WDIR* folder) {
  if (folder == nullptr) {
    errno = EFAULT;
    return -1;
  }
  Listing* const listing = listing_of(folder);
  if (listing->handle != INVALID_HANDLE_VALUE) ::FindClose(listing->handle);
  delete listing;
  return 0;
}

}  // extern "C"

#include "core/http/curl_library.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/log.h"
#include "core/platform/dynamic_library.h"
#include "core/platform/process_generation.h"
#include "core/threads/mutex.h"

namespace latebind::core {
namespace {

using platform::DynamicLibrary;

// The names that distributions use, in order of preference.
#ifdef _WIN32
constexpr std::array kNames{"libcurl-x64.dll", "libcurl.dll", "libcurl-4.dll"};
constexpr const char* kRemedy = "put libcurl-x64.dll beside the program";
#else
constexpr std::array kNames{"libcurl.so.4", "libcurl-gnutls.so.4"};
constexpr const char* kRemedy = "install it (Debian and Ubuntu: apt-get install libcurl4; Fedora: dnf install libcurl)";
#endif

template <class Function>
bool resolve(const DynamicLibrary& library, const char* name, Function& function) {
  void* const symbol = library.symbol(name);
  static_assert(sizeof symbol == sizeof function);
  std::memcpy(&function, &symbol, sizeof function);
  return symbol != nullptr;
}

Result<CurlLibrary> resolve_all(const DynamicLibrary& library) {
  CurlLibrary curl;
  const char* missing = nullptr;
  const auto take = [&](const char* name, auto& function) {
    if (!resolve(library, name, function) && missing == nullptr) missing = name;
  };
  take("curl_global_init", curl.global_init);
  take("curl_easy_init", curl.easy_init);
  take("curl_easy_reset", curl.easy_reset);
  take("curl_easy_setopt", curl.set_option);
  take("curl_easy_getinfo", curl.get_info);
  take("curl_easy_cleanup", curl.easy_cleanup);
  take("curl_easy_strerror", curl.error_text);
  take("curl_multi_init", curl.multi_init);
  take("curl_multi_add_handle", curl.multi_add);
  take("curl_multi_remove_handle", curl.multi_remove);
  take("curl_multi_perform", curl.multi_perform);
  take("curl_multi_poll", curl.multi_poll);
  take("curl_multi_info_read", curl.multi_next_message);
  take("curl_multi_cleanup", curl.multi_cleanup);
  take("curl_slist_append", curl.list_append);
  take("curl_slist_free_all", curl.list_free);
  take("curl_url", curl.url_make);
  take("curl_url_set", curl.url_set);
  take("curl_url_get", curl.url_get);
  take("curl_url_cleanup", curl.url_cleanup);
  take("curl_free", curl.free);
  if (missing != nullptr) {
    return Status(StatusCode::kLibraryUnusable, fmt::format("it has no {}: 7.66 or newer is needed", missing));
  }
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return Status(StatusCode::kLibraryUnusable, "it could not be initialised");
  }
  return curl;
}

Result<CurlLibrary> load() {
  std::string tried;
  for (const char* name : kNames) {
    auto library = DynamicLibrary::open_system(name);
    Status why = library.status();
    if (library.ok()) {
      auto curl = resolve_all(*library);
      if (curl.ok()) {
        log(LogLevel::kDebug, fmt::format("libcurl: opened {}", name));
        library->leak();
        return curl;
      }
      why = curl.status();
    }
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", name,
                         why.vendor_text().empty() ? why.message() : why.vendor_text());
  }
  return Status(StatusCode::kLibraryNotFound, fmt::format("libcurl, which cannot be used ({}); {}", tried, kRemedy));
}

}  // namespace

Result<const CurlLibrary*> CurlLibrary::get() {
  struct Opened {
    Mutex mutex;
    CurlLibrary library;
  };
  static platform::PerProcess<Opened> instance;
  auto& [mutex, library] = instance.get();
  const LogHold hold;
  const MutexLock lock(mutex);
  if (library.free == nullptr) {
    LB_ASSIGN_OR_RETURN(library, load());
  }
  return &library;
}

}  // namespace latebind::core

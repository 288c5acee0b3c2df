// CurlLibrary: libcurl, opened when the first HTTP client is made, so that a program that makes none neither loads it
// nor needs it installed. Types come from curl's headers; functions are looked up by name, all or none.
//
// Thread-safe. The library stays open until the process ends.
#pragma once

#include <curl/curl.h>

#include <string>

#include "core/result.h"

namespace latebind::core {

struct CurlLibrary {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_setopt) set_option = nullptr;
  decltype(&::curl_easy_getinfo) get_info = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_strerror) error_text = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_add_handle) multi_add = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove = nullptr;
  decltype(&::curl_multi_perform) multi_perform = nullptr;
  decltype(&::curl_multi_poll) multi_poll = nullptr;
  decltype(&::curl_multi_info_read) multi_next_message = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_slist_append) list_append = nullptr;
  decltype(&::curl_slist_free_all) list_free = nullptr;
  decltype(&::curl_url) url_make = nullptr;
  decltype(&::curl_url_set) url_set = nullptr;
  decltype(&::curl_url_get) url_get = nullptr;
  decltype(&::curl_url_cleanup) url_cleanup = nullptr;
  decltype(&::curl_free) free = nullptr;

  // Opens the library on first use. A failure is not remembered, so that a later installation is found.
  // kLibraryNotFound says what was tried and what to install, as the end of a sentence: "libcurl, which …".
  static core::Result<const CurlLibrary*> get();
};

}  // namespace latebind::core

// Access checks the keys of requests and the origins of browser pages.
//
// Thread-safe; keys can be reloaded while requests are checked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/threads/mutex.h"
#include "server/transport/http_message.h"

namespace latebind::server {

// Returns an error unless `origin` is "*" or has a form that browsers send.
[[nodiscard]] core::Status check_origin(std::string_view origin);

class Access {
 public:
  // `key` is a single key, and `key_file` has more. If both are empty, no key is required.
  Access(std::string_view key, std::string key_file, std::vector<std::string> origins);

  // Digests of keys. All have the same length, so that the time of a comparison reveals nothing about the keys.
  using Keys = std::shared_ptr<const std::vector<std::string>>;
  // Returns the digests of the single key and of those in the file, which has one key per line without blanks. Empty
  // lines and lines that begin with # are skipped. Errors never contain a key.
  [[nodiscard]] core::Result<Keys> load_keys() const;
  void use(Keys keys);
  [[nodiscard]] bool wants_key() const { return !key_digest_.empty() || !key_file_.empty(); }
  // Returns the reason for rejecting the request's key, or std::nullopt. Wrong and right keys take the same time.
  [[nodiscard]] std::optional<std::string_view> why_not(const HttpRequest& request) const;

  // Returns the value of Access-Control-Allow-Origin for a page of this origin, or "" if it is not allowed.
  [[nodiscard]] std::string allowed_origin(std::string_view origin) const;
  [[nodiscard]] bool has_origins() const { return !origins_.empty(); }

 private:
  [[nodiscard]] Keys keys() const;

  const std::string key_digest_;  // empty: no single key
  const std::string key_file_;
  const std::vector<std::string> origins_;
  mutable core::Mutex mutex_;
  Keys keys_ LB_GUARDED_BY(mutex_) = std::make_shared<std::vector<std::string>>();
};

}  // namespace latebind::server

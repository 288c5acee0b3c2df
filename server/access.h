// Access: who may ask. Keys from a file, and the origins of pages that browsers let through.
//
// Thread-safe; keys can be read again while requests are checked.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "server/transport/http_message.h"

namespace latebind::server {

// The error of what no browser ever sends as the origin of a page, and is not * either.
[[nodiscard]] core::Status check_origin(std::string_view origin);

class Access {
 public:
  // `key`: one, and `key_file`: more of them. Both empty: no key is wanted.
  Access(std::string_view key, std::string key_file, std::vector<std::string> origins);

  // Of keys: all of one length, so that nothing of the keys shows in the time.
  using Keys = std::shared_ptr<const std::vector<std::string>>;
  // The one key, and those of the file, which is read: a key a line, without blanks; empty lines and those that begin
  // with # left out. No error has the text of a key.
  [[nodiscard]] core::Result<Keys> load_keys() const;
  void use(Keys keys);
  [[nodiscard]] bool wants_key() const { return !key_digest_.empty() || !key_file_.empty(); }
  // What is wrong with the key that the request carries, or nothing. Takes as long for a wrong one as for a right one.
  [[nodiscard]] std::optional<std::string_view> why_not(const HttpRequest& request) const;

  // The value of Access-Control-Allow-Origin for a page of this origin; empty: none.
  [[nodiscard]] std::string allowed_origin(std::string_view origin) const;
  [[nodiscard]] bool has_origins() const { return !origins_.empty(); }

 private:
  [[nodiscard]] Keys keys() const;

  const std::string key_digest_;  // empty: there is no single one
  const std::string key_file_;
  const std::vector<std::string> origins_;
  mutable std::mutex mutex_;
  Keys keys_ = std::make_shared<std::vector<std::string>>();  // guarded by mutex_
};

}  // namespace latebind::server

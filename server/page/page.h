// The server's page, which a browser shows for `GET /`. It is one document that loads nothing from other hosts, built
// from page.html, page.css and scripts/ (embed.cmake).
//
// The document shows the essentials without scripts. With scripts, it requests GET /latebind/status every second and
// redraws itself, so card.cpp and facts.cpp must produce the same elements as scripts/view.js. Pure functions, for any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "core/json/value.h"

namespace latebind::server {

// Renders the document. `status` is the answer to GET /latebind/status; missing members are left out.
// {"wants_key":true} renders a page that asks for a key and explains how programs send it.
[[nodiscard]] std::string render_page(const core::Json& status);

// The page's Content-Security-Policy. It allows only the embedded script and style, by their digests, and requests to
// the same host.
[[nodiscard]] std::string_view page_policy();

}  // namespace latebind::server

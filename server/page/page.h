// The page of the server: what a browser shows for `GET /`. One document without anything from another host, made from
// page.html, page.css and scripts/ while building (embed.cmake).
//
// What is written into it says the essentials without scripts; with scripts it asks GET /latebind/status every second
// and draws the same again, so that what card.cpp and facts.cpp write and what scripts/view.js draws must be the same
// elements. Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/json.h"

namespace latebind::server {

// The document. `status` is what GET /latebind/status answers; whatever it lacks is left out. {"wants_key":true} makes
// a page that asks for a key and says how programs send it, until its scripts have one.
[[nodiscard]] std::string render_page(const core::Json& status);

// Value of Content-Security-Policy for it: nothing but the script and the style inside, by their digests, and requests
// to the same host.
[[nodiscard]] std::string_view page_policy();

}  // namespace latebind::server

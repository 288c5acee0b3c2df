// What the page is made of, in the program: written by embed.cmake while building. Constant.
#pragma once

#include <string_view>

namespace latebind::server::document {

extern const std::string_view kPage;    // page.html; {{name}} stands for what page.cpp puts there
extern const std::string_view kStyle;   // page.css
extern const std::string_view kScript;  // scripts/, one after the other
extern const std::string_view kPolicy;  // Content-Security-Policy, with the digests of both

}  // namespace latebind::server::document

// fmt::format_to(), with its generic part compiled once, in cmake/fmt_library.cpp. Without this declaration, every file
// that calls it would contain a copy of everything that fmt can format.
//
// Include this header instead of the library's own where fmt::format_to() is called.
#pragma once

#include <fmt/format.h>

#ifdef LATEBIND_FMT_ONCE
extern template void fmt::detail::vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                                   basic_format_args<buffer_context<char>>, locale_ref);
#endif

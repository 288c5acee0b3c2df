// fmt::format_to(), whose part that takes any values is compiled once, in cmake/fmt_library.cpp. Without this
// declaration every file that calls it would have a copy of all that fmt can write, numbers in every form among it.
//
// Included where fmt::format_to() is called, instead of the library's own header.
#pragma once

#include <fmt/format.h>

#ifdef LATEBIND_FMT_ONCE
extern template void fmt::detail::vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                                   basic_format_args<buffer_context<char>>, locale_ref);
#endif

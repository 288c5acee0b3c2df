// fmt's own functions, compiled once. As headers alone they would cost every file a quarter of its time; the
// distribution's library would be another one to be installed where Latebind runs.
#include <fmt/format-inl.h>

#include <cstdint>

// What fmt's headers promise to be defined elsewhere.
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);

// What core/text/format_to.h says is defined here.
template void fmt::detail::vformat_to<char>(buffer<char>&, basic_string_view<char>,
                                            basic_format_args<buffer_context<char>>, locale_ref);

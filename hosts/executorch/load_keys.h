// What a program may tell the delegate about a load, and what the delegate takes: the two must agree.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace latebind {

enum LoadKey : std::size_t { kDevice, kPrecision, kStrict, kThreads, kShapes, kConfig };

// By LoadKey.
inline constexpr std::array<std::string_view, 6> kLoadKeys{"device",  "precision", "strict",
                                                           "threads", "shapes",    "config"};

// The largest value of "threads".
inline constexpr unsigned kLoadThreadsMax = 1024;

}  // namespace latebind

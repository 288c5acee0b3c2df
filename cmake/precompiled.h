// The headers that most files include, compiled once per kind of code (cmake/LatebindTargets.cmake). Files include what
// they use nevertheless, because the presets dev and tidy and builds with ccache precompile nothing.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "core/backend/backend.h"
#include "core/config.h"
#include "core/graph/operators.h"
#include "core/json/read.h"
#include "core/json/value.h"
#include "core/log.h"
#include "core/model/model.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/result.h"
#include "core/text/format_to.h"
#include "core/text/quote.h"
#include "core/threads/mutex.h"

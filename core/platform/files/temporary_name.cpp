#include "core/platform/files/temporary_name.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <system_error>

#include "core/platform/process_generation.h"
#include "core/platform/random.h"

namespace latebind::platform {
namespace {

constexpr std::chrono::seconds kLeftAloneAfter{60};
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexadecimal = "0123456789abcdef";

// Removes the characters of `among` at the front and returns their number.
std::size_t take(std::string_view& text, std::string_view among) {
  const auto end = text.find_first_not_of(among);
  const std::size_t count = end == std::string_view::npos ? text.size() : end;
  text.remove_prefix(count);
  return count;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

}  // namespace

std::string new_temporary_name(std::string_view ending) {
  static std::atomic<unsigned> count{0};
  return fmt::format(".latebind-{}-{}-{:08x}{}", process_id(), count.fetch_add(1),
                     static_cast<std::uint32_t>(random_number()), ending);
}

bool is_temporary_name(std::string_view name) {
  return take_word(name, ".latebind-") && take(name, kDigits) > 0 && take_word(name, "-") && take(name, kDigits) > 0 &&
         take_word(name, "-") && take(name, kHexadecimal) == 8 && name == ".tmp";
}

bool is_lock_name(std::string_view name) {
  return take_word(name, kLockPrefix) && take(name, kHexadecimal) == kLockDigits && name == kLockEnding;
}

bool is_left_alone(const std::filesystem::path& file) noexcept {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(file, error);
  return !error && std::filesystem::file_time_type::clock::now() - changed >= kLeftAloneAfter;
}

}  // namespace latebind::platform

#include "server/page/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/text/counted.h"

namespace latebind::server {
namespace {

constexpr std::string_view kNothing = "–";

std::string with_commas(double number) {
  std::string digits = fmt::format("{}", static_cast<std::int64_t>(std::llround(std::min(number, 9e15))));
  for (std::size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

std::string tenths(double number) {
  return fmt::format("{:.1f}", std::floor(number * 10 + 0.5) / 10);
}

}  // namespace

const core::Json& member(const core::Json& object, std::string_view name) {
  static const core::Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(std::string(name));
  return found == nullptr ? null : *found;
}

std::vector<const core::Json*> objects_of(const core::Json& list) {
  std::vector<const core::Json*> objects;
  if (!list.is_array()) return objects;
  for (const core::Json& entry : list) {
    if (entry.is_object()) objects.push_back(&entry);
  }
  return objects;
}

std::string text_of(const core::Json& value) {
  return value.text();
}

bool is_true(const core::Json& value) {
  return value.is_boolean() && value.get<bool>();
}

std::optional<double> number_of(const core::Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (!std::isfinite(number) || number < 0) return std::nullopt;
  return number;
}

std::string count_words(std::optional<double> number) {
  return number ? with_commas(*number) : std::string(kNothing);
}

std::string counted(std::optional<double> number, std::string_view noun) {
  if (!number) return {};
  return with_commas(*number) + " " + core::noun_for(*number == 1, noun);
}

std::string rate_words(std::optional<double> number) {
  if (!number) return std::string(kNothing);
  return *number > 0 && *number < 9.95 ? tenths(*number) : with_commas(*number);
}

std::string ms_words(std::optional<double> ms) {
  if (!ms) return std::string(kNothing);
  return *ms < 9950 ? rate_words(*ms) + " ms" : rate_words(*ms / 1000) + " s";
}

std::string bytes_words(std::optional<double> bytes) {
  if (!bytes) return std::string(kNothing);
  constexpr double kKibi = 1024;
  if (*bytes < kKibi) return with_commas(*bytes) + " B";
  if (*bytes < kKibi * kKibi) return rate_words(*bytes / kKibi) + " KiB";
  if (*bytes < kKibi * kKibi * kKibi) return rate_words(*bytes / kKibi / kKibi) + " MiB";
  return rate_words(*bytes / kKibi / kKibi / kKibi) + " GiB";
}

std::string duration_words(std::optional<double> seconds) {
  if (!seconds) return std::string(kNothing);
  const auto whole = static_cast<std::int64_t>(std::min(*seconds, 9e15));
  const std::int64_t minutes = whole / 60;
  const std::int64_t hours = minutes / 60;
  if (whole < 60) return fmt::format("{} s", whole);
  if (hours < 1) return fmt::format("{} min", minutes);
  if (hours < 24) return fmt::format("{} h {} min", hours, minutes % 60);
  return fmt::format("{} d {} h", hours / 24, hours % 24);
}

std::string time_words(std::string_view iso) {
  if (iso.size() < 17 || iso[10] != 'T' || !iso.ends_with('Z')) return std::string(iso);
  return fmt::format("{} {} UTC", iso.substr(0, 10), iso.substr(11, 5));
}

std::string percent_words(double part, double whole) {
  if (!(whole > 0)) return std::string(kNothing);
  return fmt::format("{} %", static_cast<std::int64_t>(std::floor(std::max(part, 0.0) * 100 / whole + 0.5)));
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!out.empty()) out += " · ";
    out += part;
  }
  return out;
}

}  // namespace latebind::server

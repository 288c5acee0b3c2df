#include "server/observe/prometheus_text.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "core/text/format_to.h"
#include "core/text/utf8.h"

namespace latebind::server {
namespace {

// Appends the part between the quotes. Bytes that are not UTF-8 become \xNN: they would make the scraper reject the
// whole page, and different values must remain different.
void append_label_value(std::string& out, std::string_view value) {
  while (!value.empty()) {
    const std::size_t good = core::find_invalid_utf8(value).value_or(value.size());
    for (const char c : value.substr(0, good)) {
      switch (c) {
        case '\\':
          out += "\\\\";
          break;
        case '"':
          out += "\\\"";
          break;
        case '\n':
          out += "\\n";
          break;
        default:
          out += c;
      }
    }
    if (good < value.size())
      fmt::format_to(std::back_inserter(out), "\\\\x{:02X}", static_cast<unsigned char>(value[good]));
    value.remove_prefix(std::min(good + 1, value.size()));
  }
}

void append_number(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

}  // namespace

void Histogram::add(double value, std::uint64_t times) noexcept {
  if (times == 0 || !std::isfinite(value)) return;
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<std::size_t>(bucket)] += times;
  count_ += times;
  sum_ += value * static_cast<double>(times);
}

void PrometheusText::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void PrometheusText::begin_sample(std::string_view suffix, Labels labels) {
  text_ += name_;
  text_ += suffix;
  char before = '{';
  for (const Label& label : labels) {
    text_ += std::exchange(before, ',');
    text_ += label.name;
    text_ += "=\"";
    append_label_value(text_, label.value);
    text_ += '"';
  }
  text_ += labels.size() == 0 ? " " : "} ";
}

void PrometheusText::sample(std::uint64_t value, Labels labels) {
  begin_sample("", labels);
  fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

void PrometheusText::sample(double value, Labels labels) {
  begin_sample("", labels);
  append_number(text_, value);
  text_ += '\n';
}

void PrometheusText::counter(std::string_view name, std::string_view help, std::uint64_t value) {
  family(name, "counter", help);
  sample(value);
}

void PrometheusText::gauge(std::string_view name, std::string_view help, std::uint64_t value) {
  family(name, "gauge", help);
  sample(value);
}

void PrometheusText::gauge(std::string_view name, std::string_view help, double value) {
  family(name, "gauge", help);
  sample(value);
}

void PrometheusText::histogram(std::string_view name, std::string_view help, const Histogram& histogram) {
  family(name, "histogram", help);
  std::uint64_t up_to = 0;
  std::string bound;
  for (std::size_t i = 0; i < histogram.bounds().size(); ++i) {
    up_to += histogram.in_bucket(i);
    bound.clear();
    append_number(bound, histogram.bounds()[i]);
    begin_sample("_bucket", {{"le", bound}});
    fmt::format_to(std::back_inserter(text_), "{}\n", up_to);
  }
  begin_sample("_bucket", {{"le", "+Inf"}});
  fmt::format_to(std::back_inserter(text_), "{}\n", histogram.count());
  begin_sample("_sum", {});
  append_number(text_, histogram.sum());
  text_ += '\n';
  begin_sample("_count", {});
  fmt::format_to(std::back_inserter(text_), "{}\n", histogram.count());
}

}  // namespace latebind::server

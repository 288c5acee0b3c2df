#include "core/template/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/template/python_text.h"
#include "core/text/utf8.h"

namespace latebind::templates {

using core::Result;
using core::Status;

namespace {

class JsonTextWriter {
 public:
  JsonTextWriter(Run& run, const JsonForm& form) : run_(run), form_(form) {}

  Status write(const Value& value) {
    LB_RETURN_IF_ERROR(run_.spend(1));
    switch (value.kind()) {
      case Kind::kNone:
        out_ += "null";
        return {};
      case Kind::kBoolean:
        out_ += value.as_boolean() ? "true" : "false";
        return {};
      case Kind::kInteger:
        out_ += fmt::format("{}", value.as_integer());
        return {};
      case Kind::kFloat:
        out_ += number(value.as_double());
        return {};
      case Kind::kText:
      case Kind::kMarkup:
        put_text(value.as_text());
        return run_.check_size(out_.size());
      case Kind::kList:
      case Kind::kTuple:
        return write_list(value.as_items());
      case Kind::kDict:
        return write_dictionary(value.as_members());
      case Kind::kUndefined:
        return is_not_defined(value);
      default:
        return invalid(fmt::format("{} cannot be written as JSON", name_of(value.kind())));
    }
  }
  std::string take() { return std::move(out_); }

 private:
  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return text_of(value);
  }

  Status begin_line() {
    if (!form_.indent) return {};
    out_ += '\n';
    for (std::size_t i = 0; i < depth_; ++i)
      LB_RETURN_IF_ERROR(run_.append(*form_.indent, out_));
    return {};
  }

  Status write_list(const Items& items) {
    if (items.empty()) {
      out_ += "[]";
      return {};
    }
    out_ += '[';
    ++depth_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) LB_RETURN_IF_ERROR(run_.append(form_.between_items, out_));
      LB_RETURN_IF_ERROR(begin_line());
      LB_RETURN_IF_ERROR(write(items[i]));
    }
    --depth_;
    LB_RETURN_IF_ERROR(begin_line());
    out_ += ']';
    return run_.check_size(out_.size());
  }

  Status write_dictionary(Members members) {
    if (members.empty()) {
      out_ += "{}";
      return {};
    }
    if (form_.sorted) {
      const bool are_texts = std::ranges::all_of(members, [](const auto& one) { return one.first.is_text(); });
      if (!are_texts) return unsupported("sorting keys of JSON that are not texts is not supported");
      std::ranges::stable_sort(members,
                               [](const auto& a, const auto& b) { return a.first.as_text() < b.first.as_text(); });
    }
    out_ += '{';
    ++depth_;
    bool is_first = true;
    for (const auto& [key, value] : members) {
      if (!is_first) LB_RETURN_IF_ERROR(run_.append(form_.between_items, out_));
      is_first = false;
      LB_RETURN_IF_ERROR(begin_line());
      LB_RETURN_IF_ERROR(write_key(key));
      LB_RETURN_IF_ERROR(run_.append(form_.after_key, out_));
      LB_RETURN_IF_ERROR(write(value));
    }
    --depth_;
    LB_RETURN_IF_ERROR(begin_line());
    out_ += '}';
    return run_.check_size(out_.size());
  }

  Status write_key(const Value& key) {
    if (key.is_text()) {
      put_text(key.as_text());
      return {};
    }
    // Keys that are not texts are written as their JSON value, in quotes.
    out_ += '"';
    LB_RETURN_IF_ERROR(write(key));
    out_ += '"';
    return {};
  }

  void put_text(std::string_view text) {
    out_ += '"';
    for (const char* p = text.data(); p < text.data() + text.size();) {
      const char* const begin = p;
      const char32_t c = core::decode_utf8(p);
      put_character(c, {begin, static_cast<std::size_t>(p - begin)});
    }
    out_ += '"';
  }

  void put_character(char32_t c, std::string_view bytes) {
    constexpr std::string_view kLetters = "\"\\\n\r\t\f\b";
    constexpr std::string_view kEscapes = "\"\\nrtfb";
    if (const std::size_t at = c < 0x80 ? kLetters.find(static_cast<char>(c)) : std::string_view::npos;
        at != std::string_view::npos) {
      out_ += '\\';
      out_ += kEscapes[at];
    } else if (c < 0x20 || (form_.ascii && c > 0x7E && c < 0x10000)) {
      // DEL is ASCII and stays.
      if (c == 0x7F) {
        out_ += bytes;
      } else {
        out_ += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
      }
    } else if (form_.ascii && c >= 0x10000) {
      const auto rest = static_cast<std::uint32_t>(c - 0x10000);
      out_ += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    } else {
      out_ += bytes;
    }
  }

  Run& run_;
  const JsonForm& form_;
  std::string out_{};
  std::size_t depth_ = 0;
};

}  // namespace

Result<std::string> json_text(Run& run, const Value& value, const JsonForm& form) {
  JsonTextWriter writer(run, form);
  LB_RETURN_IF_ERROR(writer.write(value));
  return writer.take();
}

}  // namespace latebind::templates

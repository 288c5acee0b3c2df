#include <cmath>
#include <iterator>

#include "core/json/ascii.h"
#include "core/json/value.h"
#include "core/text/format_to.h"
#include "core/text/utf8.h"

namespace latebind::core {

class JsonWriter {
 public:
  explicit JsonWriter(std::optional<std::size_t> indentation) : indentation_(indentation) {}

  std::string take() && { return std::move(out_); }

  void write(const Json& json) {
    const auto append = [this](const auto& number) { fmt::format_to(std::back_inserter(out_), "{}", number); };
    switch (json.kind_) {
      case Json::Kind::kNull:
        out_ += "null";
        break;
      case Json::Kind::kBoolean:
        out_ += json.content_.boolean ? "true" : "false";
        break;
      case Json::Kind::kNegative:
        append(json.content_.negative);
        break;
      case Json::Kind::kUnsigned:
        append(json.content_.whole);
        break;
      case Json::Kind::kDouble: {
        const std::size_t begin = out_.size();
        if (!std::isfinite(json.content_.number)) {
          out_ += "null";
          break;
        }
        append(json.content_.number);
        // Readers distinguish numbers with a fraction from integers.
        if (out_.find_first_of(".e", begin) == std::string::npos) out_ += ".0";
        break;
      }
      case Json::Kind::kString:
        append_json_string(out_, *json.content_.text);
        break;
      case Json::Kind::kArray:
        write_all('[', ']', json.items(), [this](const Json& item) { write(item); });
        break;
      case Json::Kind::kObject:
        write_all('{', '}', json.members(), [this](const Json::Member& member) {
          append_json_string(out_, member.first);
          out_ += indentation_ ? ": " : ":";
          write(member.second);
        });
        break;
    }
  }

 private:
  template <class Parts, class Write>
  void write_all(char open, char close, const Parts& parts, const Write& write_part) {
    out_ += open;
    ++depth_;
    bool is_first = true;
    for (const auto& part : parts) {
      if (!std::exchange(is_first, false)) out_ += ',';
      start_line();
      write_part(part);
    }
    --depth_;
    if (!is_first) start_line();
    out_ += close;
  }
  void start_line() {
    if (indentation_) out_.append("\n").append(depth_ * *indentation_, ' ');
  }

  const std::optional<std::size_t> indentation_;
  std::size_t depth_ = 0;
  std::string out_;
};

std::string Json::dump(std::optional<std::size_t> indentation) const {
  JsonWriter writer(indentation);
  writer.write(*this);
  return std::move(writer).take();
}

void append_json_string(std::string& out, std::string_view text) {
  constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f";
  constexpr std::string_view kLetters = "\"\\nrtbf";
  out += '"';
  while (!text.empty()) {
    const std::size_t valid = find_invalid_utf8(text).value_or(text.size());
    for (const char c : text.substr(0, valid)) {
      if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') {
        out += c;
      } else if (const auto at = kEscaped.find(c); at != std::string_view::npos) {
        out += '\\';
        out += kLetters[at];
      } else {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
      }
    }
    text.remove_prefix(valid);
    if (text.empty()) break;
    out += "\xEF\xBF\xBD";
    text.remove_prefix(malformed_utf8_size(text));
  }
  out += '"';
}

std::string ascii_json(std::string_view text) {
  constexpr char32_t kDelete = 0x7F;
  std::string out;
  const auto escape = [&out](char32_t unit) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(unit));
  };
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char32_t character = decode_utf8(at);
    if (character < kDelete) {
      out += static_cast<char>(character);
    } else if (character < 0x10000) {
      escape(character);
    } else {
      escape(0xD800 + ((character - 0x10000) >> 10U));
      escape(0xDC00 + ((character - 0x10000) & 0x3FFU));
    }
  }
  return out;
}

}  // namespace latebind::core

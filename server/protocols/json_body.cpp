#include "server/protocols/json_body.h"

#include <array>
#include <cstdint>
#include <iterator>

#include "core/text/format_to.h"

namespace latebind::server {
namespace {

// Parsers keep their memory between requests up to this size of a body; larger bodies have one of their own.
constexpr std::size_t kKeptBytes = std::size_t{64} << 10;

std::shared_ptr<simdjson::dom::parser> new_parser(std::size_t bytes) {
  auto parser = std::make_shared<simdjson::dom::parser>();
  if (parser->allocate(bytes, kJsonDepthMax) != simdjson::SUCCESS) throw std::bad_alloc();
  return parser;
}

std::string_view words_of(simdjson::error_code error) {
  switch (error) {
    case simdjson::DEPTH_ERROR:
      return "it is nested too deeply";
    case simdjson::UTF8_ERROR:
      return "it is not UTF-8";
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::STRING_ERROR:
      return "a string in it is damaged";
    case simdjson::NUMBER_ERROR:
      return "a number in it is damaged, or above 64 bits";
    case simdjson::UNESCAPED_CHARS:
      return "a string in it has a control character";
    case simdjson::UNCLOSED_STRING:
      return "a string in it has no end";
    default:
      return "it is damaged";
  }
}

}  // namespace

std::optional<Refusal> JsonBody::parse(std::string_view text) {
  thread_local std::shared_ptr<simdjson::dom::parser> kept;
  if (text.size() > kKeptBytes) {
    parser_ = new_parser(text.size());
  } else {
    // One that a body of this thread still uses stays with that.
    if (kept == nullptr || kept.use_count() > 1) kept = new_parser(kKeptBytes);
    parser_ = kept;
  }
  const auto error = parser_->parse(text.data(), text.size()).get(root_);
  if (error == simdjson::SUCCESS) return std::nullopt;
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  return Refusal{.kind = RefusalKind::kBadRequest,
                 .message = fmt::format("the body is not JSON: {}", words_of(error)),
                 .param = {}};
}

Problem read_text(const JsonValue& value, std::string& text) {
  std::string_view view;
  if (value.get(view) != simdjson::SUCCESS) return "must be a string";
  text.assign(view);
  return std::nullopt;
}

Problem read_texts(const JsonValue& value, TextLimit& limit, std::vector<std::string>& texts) {
  constexpr const char* kKind = "must be an array of strings";
  simdjson::dom::array items;
  if (value.get(items) != simdjson::SUCCESS) return kKind;
  const std::size_t count = texts.size() + items.size();
  if (!limit.has_room_for(count)) return std::nullopt;
  texts.reserve(count);
  for (const JsonValue item : items) {
    if (read_text(item, texts.emplace_back())) return kKind;
  }
  return std::nullopt;
}

Problem read_bool(const JsonValue& value, bool& truth) {
  if (value.get(truth) != simdjson::SUCCESS) return "must be true or false";
  return std::nullopt;
}

Problem read_size(const JsonValue& value, std::size_t least, std::size_t most, std::size_t& size) {
  std::uint64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS || number < least || number > most) {
    return fmt::format("must be a whole number from {} to {}", least, most);
  }
  size = static_cast<std::size_t>(number);
  return std::nullopt;
}

app::Json or_null(app::Json schema) {
  if (const auto type = schema.find("type");
      type != schema.end() && type->is_string() && type->get_ref<const std::string&>() != "null") {
    *type = app::Json::array({*type, "null"});
  }
  if (const auto kinds = schema.find("anyOf"); kinds != schema.end()) kinds->push_back(typed_schema("null", ""));
  if (const auto words = schema.find("enum"); words != schema.end()) words->push_back(nullptr);
  return schema;
}

app::Json typed_schema(std::string_view type, std::string_view about) {
  app::Json schema;
  schema["type"] = std::string(type);
  if (!about.empty()) schema["description"] = std::string(about);
  return schema;
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char letter : text) {
    switch (letter) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(letter) < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(letter));
        } else {
          out += letter;
        }
    }
  }
  out += '"';
}

void append_numbers(std::string& out, std::span<const float> row) {
  // The longest float has 15 characters, "-1.17549435e-38".
  constexpr std::size_t kNumberMax = 24;
  const std::size_t begin = out.size();
  out.resize(begin + 2 + row.size() * kNumberMax);
  char* at = out.data() + begin;
  *at++ = '[';
  for (const float number : row) {
    at = fmt::format_to(at, "{}", number);
    *at++ = ',';
  }
  if (!row.empty()) --at;
  *at++ = ']';
  out.resize(static_cast<std::size_t>(at - out.data()));
}

}  // namespace latebind::server

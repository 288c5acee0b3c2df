#include "server/protocols/json_body.h"

#include <array>
#include <cstdint>
#include <iterator>

#include "core/text/format_to.h"
#include "server/protocols/json_fault.h"

namespace latebind::server {
namespace {

// Parsers for bodies up to this size are reused with their memory. Larger bodies get a new parser.
constexpr std::size_t kKeptBytes = std::size_t{64} << 10;

std::shared_ptr<simdjson::dom::parser> new_parser(std::size_t bytes) {
  auto parser = std::make_shared<simdjson::dom::parser>();
  if (parser->allocate(bytes, kJsonDepthMax) != simdjson::SUCCESS) throw std::bad_alloc();
  return parser;
}

}  // namespace

std::optional<Refusal> JsonBody::parse(std::string_view text) {
  thread_local std::shared_ptr<simdjson::dom::parser> kept;
  if (text.size() > kKeptBytes) {
    parser_ = new_parser(text.size());
  } else {
    // A parser that a body of this thread still uses is not reused.
    if (kept == nullptr || kept.use_count() > 1) kept = new_parser(kKeptBytes);
    parser_ = kept;
  }
  const auto error = parser_->parse(text.data(), text.size()).get(root_);
  if (error == simdjson::SUCCESS) return std::nullopt;
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  // A well-formed number may still not fit into 64 bits.
  const std::string_view otherwise =
      error == simdjson::NUMBER_ERROR ? "it has a number that is too large" : simdjson::error_message(error);
  return Refusal{.kind = RefusalKind::kBadRequest,
                 .message = fmt::format("the body is not JSON: {}",
                                        json_fault(text, kJsonDepthMax).value_or(std::string(otherwise))),
                 .param = {}};
}

Problem read_text(const JsonValue& value, std::string& text) {
  std::string_view view;
  if (value.get(view) != simdjson::SUCCESS) return fmt::format("must be a string, not {}", kind_of(value));
  text.assign(view);
  return std::nullopt;
}

std::string_view kind_of(const JsonValue& value) {
  switch (value.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "true or false";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

Problem unexpected_item(const JsonValue& item, std::string_view place, std::string_view wanted) {
  return fmt::format("has {} at {}; expected {}", kind_of(item), place, wanted);
}

Problem read_bool(const JsonValue& value, bool& truth) {
  if (value.get(truth) != simdjson::SUCCESS) return fmt::format("must be true or false, not {}", kind_of(value));
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
  // The longest float has 15 characters: "-1.17549435e-38".
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

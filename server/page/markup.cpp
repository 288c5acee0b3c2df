#include "server/page/markup.h"

namespace latebind::server {

void Markup::open(std::string_view tag, Attributes attributes) {
  out_ += '<';
  out_ += tag;
  for (const auto& [name, value] : attributes) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"";
    out_ += core::escaped_for_markup(value);
    out_ += '"';
  }
  out_ += '>';
}

void Markup::close(std::string_view tag) {
  out_ += "</";
  out_ += tag;
  out_ += '>';
}

void Markup::element(std::string_view tag, Attributes attributes, std::string_view content) {
  open(tag, attributes);
  text(content);
  close(tag);
}

void fact(Markup& markup, std::string_view name, std::string_view content) {
  if (content.empty()) return;
  markup.open("div");
  markup.element("dt", {}, name);
  markup.element("dd", {}, content);
  markup.close("div");
}

}  // namespace latebind::server

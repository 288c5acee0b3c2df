// Markup builds HTML and escapes all text. A value.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/text/markup.h"

namespace latebind::server {

class Markup {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  void open(std::string_view tag, Attributes attributes = {});
  void close(std::string_view tag);
  void text(std::string_view text) { out_ += core::escaped_for_markup(text); }
  void element(std::string_view tag, Attributes attributes, std::string_view content);
  // Appends text that is already markup.
  void append(std::string_view markup) { out_ += markup; }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Appends an entry to a list of facts, unless `content` is empty.
void fact(Markup& markup, std::string_view name, std::string_view content);

}  // namespace latebind::server

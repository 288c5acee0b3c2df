// Prints the page for a status: JSON on the standard input, the document on the standard output. With --policy, the
// value of Content-Security-Policy instead.

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "core/json/parse.h"
#include "server/page/page.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--policy") {
    std::cout << latebind::server::page_policy();
    return 0;
  }
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const auto status = latebind::core::json_or_null(text);
  if (status.is_null()) {
    std::fputs("lb_page_demo: the standard input is no JSON\n", stderr);
    return 2;
  }
  std::cout << latebind::server::render_page(status);
  return 0;
}

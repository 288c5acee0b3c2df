// Router finds the handler of a request. It is built once from the tables of all protocols and is constant.
//
// Matching is lenient: empty segments are ignored ("//v1/embeddings/"), and so are prefixes that proxies add before a
// version ("/api/v1/embeddings"). A {model} may span several segments ("/v1/models/ORG/NAME").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/protocols/route.h"

namespace latebind::server {

class Router {
 public:
  Router();

  struct Match {
    const Route* route = nullptr;        // null: no route for this method and path
    const Protocol* protocol = nullptr;  // of the route or, for errors, of the nearest path
    PathValues values{};
    // The path as in the table, also if only other methods have a route there. Empty: unknown path.
    std::string_view path{};
    std::string allowed{};        // the methods of this path: "GET, HEAD"
    std::string_view nearest{};   // for an unknown path: the path that was probably meant, or empty
    bool generates_text = false;  // for an unknown path: other servers generate text there
  };
  // `segments` are those of the path, decoded; empty for "*". HEAD is answered like GET.
  [[nodiscard]] Match find(std::string_view method, std::span<const std::string> segments) const;

  // Returns the refusal for a request without a route, which names the alternatives.
  [[nodiscard]] static Refusal refusal_of(const Match& match, std::string_view method, std::string_view path);

 private:
  using Segments = std::span<const std::string_view>;
  struct Entry {
    const Route* route;
    const Protocol* protocol;
    std::vector<std::string_view> segments;
  };
  // Without `protocol` if no path fits.
  [[nodiscard]] Match match_of(std::string_view method, Segments segments) const;
  // Adds another route of the matched path.
  static void add(const Entry& entry, std::string_view method, Match& match);
  void find_nearest(Segments segments, Match& match) const;

  std::vector<Entry> entries_;
};

}  // namespace latebind::server

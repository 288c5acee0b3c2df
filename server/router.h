// Router: which handler a request is for. Built once from the tables of all protocols; constant.
//
// Paths are taken as people's clients make them: empty segments do not count ("//v1/embeddings/"), what proxies put
// before a version ("/api/v1/embeddings") neither, and a {model} may be several segments ("/v1/models/ORG/NAME").
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
    const Route* route = nullptr;        // null: none for this method and path
    const Protocol* protocol = nullptr;  // of the route, or of a path that is near: whose words an error has
    PathValues values{};
    std::string_view
        path{};             // as in the table, also where no route there has this method; empty: there is no such path
    std::string allowed{};  // the methods of this path, "GET, HEAD"
    std::string_view nearest{};   // where there is no such path: one that was probably meant, or empty
    bool generates_text = false;  // where there is no such path: it is one by which other servers generate text
  };
  // `segments` of the path, decoded; none: "*". HEAD is answered as GET is.
  [[nodiscard]] Match find(std::string_view method, std::span<const std::string> segments) const;

  // Why a request without a route is not answered: what there is instead.
  [[nodiscard]] static Refusal refusal_of(const Match& match, std::string_view method, std::string_view path);

 private:
  using Segments = std::span<const std::string_view>;
  struct Entry {
    const Route* route;
    const Protocol* protocol;
    std::vector<std::string_view> segments;
  };
  // Without `protocol` where no path fits.
  [[nodiscard]] Match match_of(std::string_view method, Segments segments) const;
  // One more route of the path.
  static void add(const Entry& entry, std::string_view method, Match& match);
  void find_what_is_near(Segments segments, Match& match) const;

  std::vector<Entry> entries_;
};

}  // namespace latebind::server

// Router: which handler a request is for. Built once from the tables of all protocols; constant.
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
  };
  // `segments` of the path, decoded; none: "*". HEAD is answered as GET is.
  [[nodiscard]] Match find(std::string_view method, std::span<const std::string> segments) const;

 private:
  struct Entry {
    const Route* route;
    const Protocol* protocol;
    std::vector<std::string_view> segments;
  };
  std::vector<Entry> entries_;
};

}  // namespace latebind::server

// Finds the route of a request.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/protocol/route.h"

namespace postino::api {

// Safe to use from any thread.
class Router {
 public:
  // The routes must outlive it.
  explicit Router(const std::vector<Route>& routes);

  struct Match {
    const Route* route = nullptr;
    std::vector<std::pair<std::string_view, std::string>> parameters;  // of the path, by their names
  };
  // HEAD goes where GET goes. Where a path fits two patterns, the one that names it counts: /emails/counts is not
  // /emails/{id}.
  base::Result<Match, Problem> find(std::string_view method, std::string_view path) const;

 private:
  struct Segment {
    std::string_view text;  // of a parameter its name
    bool parameter = false;
  };
  struct Pattern {
    const Route* route = nullptr;
    std::vector<Segment> segments;

    bool fits(const std::vector<std::string>& path) const;
    Match match(std::vector<std::string>& path) const;
  };
  static Pattern make_pattern(const Route& route, std::string_view path);
  std::string methods_of(const std::vector<std::string>& path) const;

  std::vector<Pattern> patterns_;  // those with earlier parameters later
};

}  // namespace postino::api

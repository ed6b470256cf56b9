#include "api/router.h"

#include <algorithm>

#include "api/protocol/target.h"

namespace postino::api {

Router::Pattern Router::make_pattern(const Route& route, std::string_view path) {
  Pattern pattern{&route, {}};
  std::string_view rest = path.substr(1);
  while (true) {
    const std::size_t end = rest.find('/');
    const std::string_view text = rest.substr(0, end);
    const bool parameter = text.starts_with('{');
    pattern.segments.push_back({parameter ? text.substr(1, text.size() - 2) : text, parameter});
    if (end == std::string_view::npos) return pattern;
    rest.remove_prefix(end + 1);
  }
}

Router::Router(const std::vector<Route>& routes) {
  for (const Route& route : routes) {
    patterns_.push_back(make_pattern(route, route.operation.path));
    if (!route.operation.former_path.empty()) patterns_.push_back(make_pattern(route, route.operation.former_path));
  }
  const auto first_parameter = [](const Pattern& pattern) {
    return std::ranges::find(pattern.segments, true, &Segment::parameter) - pattern.segments.begin();
  };
  std::ranges::stable_sort(patterns_, std::ranges::greater(), first_parameter);
}

bool Router::Pattern::fits(const std::vector<std::string>& path) const {
  if (path.size() != segments.size()) return false;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (segments[i].parameter ? path[i].empty() : path[i] != segments[i].text) return false;
  return true;
}

Router::Match Router::Pattern::match(std::vector<std::string>& path) const {
  Match match{route, {}};
  for (std::size_t i = 0; i < path.size(); ++i)
    if (segments[i].parameter) match.parameters.emplace_back(segments[i].text, std::move(path[i]));
  return match;
}

base::Result<Router::Match, Problem> Router::find(std::string_view method, std::string_view path) const {
  TRY(std::vector<std::string> segments, split_path(path));
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Pattern& pattern : patterns_)
    if (pattern.route->operation.method == wanted && pattern.fits(segments)) return pattern.match(segments);
  const std::string methods = methods_of(segments);
  if (methods.empty()) return refuse(problems::path_not_found, "/openapi.json lists all paths.");
  auto refusal = refuse(problems::method_not_allowed, "The path allows " + methods + ".");
  refusal.value().headers.emplace_back("Allow", methods);
  return refusal;
}

std::string Router::methods_of(const std::vector<std::string>& path) const {
  std::vector<std::string_view> methods;
  for (const Pattern& pattern : patterns_) {
    const std::string_view method = pattern.route->operation.method;
    if (!pattern.fits(path) || std::ranges::find(methods, method) != methods.end()) continue;
    methods.push_back(method);
    if (method == "GET") methods.push_back("HEAD");
  }
  std::string text;
  for (const std::string_view method : methods) text.append(text.empty() ? "" : ", ").append(method);
  return text;
}

}  // namespace postino::api

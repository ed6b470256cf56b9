// What traffic costs on DynamoDB: estimates, prices, and the traffic of this store.
#include "api/routes/route_groups.h"

namespace postino::api {

namespace {

// Has the body of a call calculated by a function that notes what is wrong with it.
template <class Calculate>
Outcome calculated(const Call& call, const Calculate& calculate) {
  json::FieldErrors errors;
  json::Document document;
  if (!document.parse(call.request.body, errors)) return refuse_fields(problems::malformed_json, errors);
  std::optional<std::string> answer = calculate(document.root(), errors);
  if (!answer) return refuse_fields(problems::invalid_request, errors);
  return json_reply(*std::move(answer));
}

Outcome plan_capacity(Call& call) {
  return calculated(call, [&call](json::Element body, json::FieldErrors& errors) {
    return call.services.planner.estimate_json(body, errors);
  });
}

Outcome plan_as_formerly(Call& call) { return calculated(call, capacity::Planner::former_json); }

Outcome show_prices(Call& call) { return json_reply(capacity::to_json(call.services.planner.prices())); }

base::Result<void, Problem> check_watching(const Call& call) {
  if (call.services.planner.is_watching()) return {};
  return refuse(problems::not_watched, "The server was started with --no-watch.");
}

Outcome show_observation(Call& call) {
  TRY_VOID(check_watching(call));
  TRY(const capacity::Observation observation, answered(call.services.planner.observe(), problems::store_unavailable));
  return json_reply(capacity::to_json(observation, call.services.planner.prices()));
}

Outcome restart_observation(Call& call) {
  TRY_VOID(check_watching(call));
  TRY_VOID(call.no_fields());
  call.services.planner.restart();
  return no_content();
}

std::vector<Route> planning_routes() {
  return {
      {.operation = {.id = "planCapacity",
                     .method = "POST",
                     .path = "/capacity/plan",
                     .right = Right::read,
                     .group = "Capacity",
                     .summary = "Calculate what requests take and cost on DynamoDB",
                     .description =
                         "Units as AWS meters them; provisioned capacity and on demand, a month; which is cheaper, and "
                         "where both cost the same. Amounts are exact decimals, rounded to cents. Nothing is stored.",
                     .body = {{{json_content_type, "CapacityWorkload"}}, true},
                     .answers = {{200, "The estimate.", {{json_content_type, "CapacityEstimate"}}}}},
       .handle = plan_capacity},
      {.operation =
           {.id = "planCapacityAsFormerly",
            .method = "POST",
            .path = "/capacity/former-plan",
            .right = Right::read,
            .group = "Capacity",
            .summary = "Calculate as the calculator of a former system does",
            .description =
                "With its formulas, its rounding and its prices, to compare new figures with old ones. `notes` "
                "lists where it contradicts itself or AWS.",
            .body = {{{json_content_type, "FormerCapacityLoad"}}, true},
            .answers = {{200, "Its analysis.", {{json_content_type, "FormerCapacityAnalysis"}}}}},
       .handle = plan_as_formerly},
      {.operation = {.id = "getCapacityPrices",
                     .method = "GET",
                     .path = "/capacity/prices",
                     .right = Right::read,
                     .group = "Capacity",
                     .summary = "Show the prices that are calculated with",
                     .description = "In the form of a price file.",
                     .answers = {{200, "The prices.", {{json_content_type, "CapacityPrices"}}}}},
       .handle = show_prices},
  };
}

std::vector<Route> observation_routes() {
  constexpr std::string_view no_watch = "The server does not watch its traffic (NOT_WATCHED).";
  return {
      {.operation =
           {.id = "getObservedTraffic",
            .method = "GET",
            .path = "/capacity/observed",
            .right = Right::operate,
            .group = "Capacity",
            .summary = "Show what the traffic of this store would cost on DynamoDB",
            .description =
                "Of all requests since the start, or since the watch was restarted, by all APIs: the costs of a "
                "month, the keys with the most traffic, items near the size limit, indexes that nothing "
                "reads, keys beyond what one partition gives, and what to do about each. Keys can be personal "
                "data.",
            .answers = {{200, "The observation.", {{json_content_type, "CapacityObservation"}}}, {404, no_watch}}},
       .handle = show_observation,
       .shared = true,
       .large_answer = true},
      {.operation = {.id = "restartObservation",
                     .method = "POST",
                     .path = "/capacity/observed/restart",
                     .right = Right::operate,
                     .group = "Capacity",
                     .summary = "Forget the traffic that was seen, and start over",
                     .answers = {{204, "It starts over."}, {404, no_watch}}},
       .handle = restart_observation,
       .shared = true},
  };
}

}  // namespace

std::vector<Route> capacity_routes() {
  std::vector<Route> routes = planning_routes();
  for (Route& route : observation_routes()) routes.push_back(std::move(route));
  return routes;
}

}  // namespace postino::api

// Live metrics: figures, their history, figures as they change; and for operators what follows the changes of tables.
#include <algorithm>
#include <array>

#include "api/routes/route_groups.h"
#include "base/timestamp.h"
#include "item/json_codec.h"

namespace postino::api {

namespace {

using metrics::Unit;

constexpr std::string_view event_stream_type = "text/event-stream";
constexpr std::string_view no_metrics_text = "Nothing is counted (NO_METRICS).";

base::Result<metrics::Metrics*, Problem> counting(const Call& call) {
  if (call.services.metrics == nullptr)
    return refuse(problems::no_metrics, "The server was started with --no-metrics.");
  return call.services.metrics;
}

tl::unexpected<Problem> refuse_source(metrics::Metrics& counted) {
  std::string names;
  for (const std::string& name : counted.dashboard().sources()) names.append(names.empty() ? "" : ", ").append(name);
  return refuse(problems::source_not_found,
                names.empty() ? "No source is counted." : "What is counted: " + names + ".");
}

// Whose figures the caller gets: a key of a tenant has those of its tenant alone. This is the only place that decides.
base::Result<std::string, Problem> whose_figures(const Call& call) {
  const std::string tenant = call.text("tenant"), scope = call.text("scope");
  if (!call.caller.tenant.empty()) {
    if (!scope.empty() || (!tenant.empty() && tenant != call.caller.tenant))
      return refuse(problems::forbidden, "The key is of one tenant, and sees the figures of this tenant alone.");
    return call.caller.tenant;
  }
  if (!tenant.empty() && !scope.empty()) return refuse_field("scope", "must not be given together with tenant");
  if (!tenant.empty()) {
    if (tenant.find_first_of("#*") != std::string::npos) return refuse_field("tenant", "must be the name of a tenant");
    return tenant;
  }
  if (scope.empty() || scope == "everybody") return std::string(metrics::everybody);
  if (scope == "company") return std::string();
  if (scope == "tenants") return std::string(metrics::all_tenants);
  return refuse_field("scope", "must be everybody, company or tenants");
}

Outcome show_figures(Call& call) {
  TRY(metrics::Metrics* const counted, counting(call));
  TRY(const std::string whose, whose_figures(call));
  TRY(const metrics::Figures figures, answered(counted->dashboard().read(whose), problems::store_unavailable));
  return json_reply(metrics::figures_json(figures));
}

// Empty where there are neither keys nor users: then the server does not know who watches.
std::string watcher_name(const Caller& caller) {
  return caller.name.empty() ? "" : (caller.is_user ? "user " : "key ") + credential_text(caller);
}

Outcome watch_figures(Call& call) {
  TRY(metrics::Metrics* const counted, counting(call));
  TRY(const std::string whose, whose_figures(call));
  Reply reply{.status = 200, .content_type = std::string(event_stream_type)};
  reply.stream =
      counted->live().watch(whose, std::string(call.request.header("last-event-id")), watcher_name(call.caller));
  if (!reply.stream) return refuse(problems::overloaded, "Too many clients watch the figures. Try again later.");
  return reply;
}

// What a chart shows by default, and at most.
struct ChartUnit {
  std::string_view name;
  Unit unit;
  base::Milliseconds usual;
};
constexpr std::array<ChartUnit, 3> chart_units = {{{"minutes", Unit::minutes, std::chrono::hours(3)},
                                                   {"hours", Unit::hours, std::chrono::hours(7 * 24)},
                                                   {"days", Unit::hours, std::chrono::hours(90 * 24)}}};

Outcome show_history(Call& call) {
  TRY(metrics::Metrics* const counted, counting(call));
  TRY(const std::string whose, whose_figures(call));
  const std::string wanted = call.text("unit").empty() ? "hours" : call.text("unit");
  const auto unit = std::ranges::find(chart_units, wanted, &ChartUnit::name);
  if (unit == chart_units.end()) return refuse_field("unit", "must be minutes, hours or days");
  const std::string source = call.path_parameter("source");
  const std::vector<std::string> known = counted->dashboard().sources();
  if (std::ranges::find(known, source) == known.end()) return refuse_source(*counted);
  TRY(const TimeRange range, call.time_range());
  const base::TimePoint end = range.until.value_or(call.services.clock.now());
  const base::TimePoint begin = range.since.value_or(end - unit->usual);
  auto points = counted->dashboard().history(whose, source, unit->unit, begin, end);
  if (!points && points.error().code == base::ErrorCode::invalid)
    return refuse_field("since",
                        begin >= end ? "must not be in the future" : "is too early: " + points.error().message);
  TRY(std::vector<metrics::HistoryPoint> found, answered(std::move(points), problems::store_unavailable));
  if (unit->name == "days") found = metrics::by_day(found);
  return json_reply(R"({"data":)" + metrics::history_json(found) + "}");
}

// --- For operators.

// A source and a subscriber may have the same name.
void write_name(json::Writer& json, std::string_view member, const std::string& follower) {
  const std::optional<std::string> subscriber = metrics::subscriber_of(follower);
  json.key(member).string(subscriber.value_or(follower));
  json.key("kind").string(subscriber ? "subscriber" : "source");
}

void write_follower(json::Writer& json, const metrics::Follower& follower) {
  const metrics::FollowerCounts counts = follower.counts();
  json.begin_object();
  write_name(json, "name", follower.options().keeper.follower);
  json.key("table").string(follower.options().table);
  json.key("follows").boolean(counts.follows);
  json.key("lag_milliseconds").integer(counts.lag.count());
  json.key("changes").integer(static_cast<std::int64_t>(counts.records));
  json.key("set_aside").integer(static_cast<std::int64_t>(counts.set_aside));
  json.key("begun").integer(static_cast<std::int64_t>(counts.begun));
  json.key("failures").integer(static_cast<std::int64_t>(counts.failures));
  if (const std::string problem = follower.problem(); !problem.empty()) json.key("problem").string(problem);
  json.end_object();
}

Outcome list_followers(Call& call) {
  TRY(metrics::Metrics* const counted, counting(call));
  std::string body;
  json::Writer json(body);
  json.begin_object().key("data").begin_array();
  for (const metrics::Follower* const follower : counted->followers()) write_follower(json, *follower);
  json.end_array().end_object();
  return json_reply(std::move(body));
}

Outcome recount_source(Call& call) {
  TRY(metrics::Metrics* const counted, counting(call));
  TRY_VOID(call.no_fields());
  const std::string& source = call.path_parameter("source");
  if (counted->follower(source) == nullptr) return refuse_source(*counted);
  if (!counted->count_anew(source))
    return refuse(problems::not_counted_here, "It is not counted now: GET /figures/followers says why.");
  return Reply{.status = 202};
}

void write_set_aside(json::Writer& json, const metrics::SetAside& record) {
  json.begin_object();
  json.key("id").string(metrics::public_id(record.id));
  write_name(json, "follower", record.follower);
  json.key("table").string(record.table);
  json.key("reason").string(record.reason);
  json.key("set_aside_at").string(base::format_timestamp(record.at));
  json.key("event").string(record.event);
  if (!record.sequence.empty()) json.key("sequence").string(record.sequence);
  json.key("keys").raw(item::to_json(record.keys));
  if (record.old_image) json.key("old").raw(item::to_json(*record.old_image));
  if (record.new_image) json.key("new").raw(item::to_json(*record.new_image));
  json.end_object();
}

Outcome list_set_aside(Call& call) {
  TRY(metrics::Metrics* const counted, counting(call));
  TRY(const Page page, call.page());
  TRY(const auto found, answered_page(counted->set_aside().page(page.cursor, page.limit)));
  std::string body;
  json::Writer json(body);
  json.begin_object().key("data").begin_array();
  for (const metrics::SetAside& record : found.records) write_set_aside(json, record);
  json.end_array().key("cursor");
  if (found.cursor.empty())
    json.null();
  else
    json.string(found.cursor);
  json.end_object();
  return json_reply(std::move(body));
}

tl::unexpected<Problem> not_set_aside() {
  return refuse(problems::change_not_found, "Nothing of this id was set aside.");
}

Outcome drop_set_aside(Call& call) {
  TRY(metrics::Metrics* const counted, counting(call));
  const std::string id = metrics::private_id(call.path_parameter("id"));
  TRY(const bool was_there, answered(counted->set_aside().remove(id), problems::store_unavailable));
  if (!was_there) return not_set_aside();
  return no_content();
}

Outcome retry_set_aside(Call& call) {
  TRY(metrics::Metrics* const counted, counting(call));
  TRY_VOID(call.no_fields());
  auto retried = counted->retry(metrics::private_id(call.path_parameter("id")));
  if (!retried && retried.error().code == base::ErrorCode::invalid)
    return refuse(problems::not_retried, as_sentence(retried.error().message));
  TRY(const bool was_there, answered(std::move(retried), problems::store_unavailable));
  if (!was_there) return not_set_aside();
  return Reply{.status = 202};
}

Parameter source_parameter() {
  return {"source",
          ParameterPlace::path,
          {.type = "string", .description = "What is counted: tickets, emails or reminders.", .least = 1, .most = 64},
          true};
}

Parameter change_id_parameter() {
  return {"id",
          ParameterPlace::path,
          {.type = "string", .description = "Id of the change, from the list.", .least = 1, .most = 200},
          true};
}

std::vector<Parameter> whose_parameters() {
  return {{"tenant",
           ParameterPlace::query,
           {.type = "string", .description = "Figures of this tenant. A key of a tenant sees no others.", .most = 64}},
          {"scope",
           ParameterPlace::query,
           {.type = "string",
            .description = "Of the company and all tenants together (everybody), of the company itself without its "
                           "tenants, or of all tenants together. Not for keys of a tenant.",
            .choices = {"everybody", "company", "tenants"},
            .default_value = "\"everybody\""}}};
}

std::vector<Parameter> chart_parameters() {
  std::vector<Parameter> parameters = {source_parameter()};
  for (Parameter& parameter : whose_parameters()) parameters.push_back(std::move(parameter));
  parameters.push_back({"unit",
                        ParameterPlace::query,
                        {.type = "string",
                         .description = "What a point covers. Minutes are kept for a day, the others for 90 days; days "
                                        "are those of UTC.",
                         .choices = {"minutes", "hours", "days"},
                         .default_value = "\"hours\""}});
  std::vector<Parameter> range = range_parameters("what happened");
  range.front().schema.description +=
      " By default 3 hours before the end of the range for minutes, 7 days for hours, 90 days for days.";
  range.back().schema.description += " By default up to now.";
  for (Parameter& parameter : range) parameters.push_back(std::move(parameter));
  return parameters;
}

std::vector<Route> dashboard_routes() {
  std::vector<Parameter> watch_parameters = whose_parameters();
  watch_parameters.push_back(
      {"Last-Event-ID",
       ParameterPlace::header,
       {.type = "string", .description = "Id of the last event that the client has: it is not sent again."}});
  return {
      {.operation = {.id = "getFigures",
                     .method = "GET",
                     .path = "/figures",
                     .right = Right::see_figures,
                     .group = "Metrics",
                     .summary = "Show the figures of a dashboard",
                     .description = "Tickets by status, how long they took, how satisfied customers are; e-mails by "
                                    "state; reminders by status and type. All of them in one read.",
                     .parameters = whose_parameters(),
                     .answers = {{200, "The figures.", {{json_content_type, "Figures"}}}, {404, no_metrics_text}}},
       .handle = show_figures},
      {.operation =
           {.id = "watchFigures",
            .method = "GET",
            .path = "/figures/live",
            .right = Right::see_figures,
            .group = "Metrics",
            .summary = "Watch the figures of a dashboard",
            .description = "Server-sent events: an event `figures` with the answer of getFigures at once and after "
                           "each change, at most once a second. A comment comes every 15 seconds without news. A "
                           "client that reads slowly gets the latest figures, not all of them. The stream ends when "
                           "the key or the session does; a key or a user has at most 10 streams.",
            .parameters = std::move(watch_parameters),
            .answers = {{200, "Events, for as long as the client stays and may see them.", {{event_stream_type, ""}}},
                        {404, no_metrics_text}}},
       .handle = watch_figures},
      {.operation = {.id = "getFigureHistory",
                     .method = "GET",
                     .path = "/figures/{source}/history",
                     .right = Right::see_figures,
                     .group = "Metrics",
                     .summary = "Show what happened in each minute, hour or day",
                     .description = "For charts, oldest first. Points in which nothing happened are left out.",
                     .parameters = chart_parameters(),
                     .answers = {{200, "The history.", {{json_content_type, "FigureHistory"}}},
                                 {404, "Nothing of this name is counted (SOURCE_NOT_FOUND, NO_METRICS)."}}},
       .handle = show_history,
       .large_answer = true},
  };
}

std::vector<Route> follower_routes() {
  return {
      {.operation = {.id = "listFollowers",
                     .method = "GET",
                     .path = "/figures/followers",
                     .right = Right::operate,
                     .group = "Metrics",
                     .summary = "List what follows the changes of tables",
                     .description = "Sources of figures, and subscribers, each with its progress.",
                     .answers = {{200, "The followers.", {{json_content_type, "FollowerList"}}},
                                 {404, no_metrics_text}}},
       .handle = list_followers,
       .shared = true},
      {.operation = {.id = "recountFigures",
                     .method = "POST",
                     .path = "/figures/{source}/recount",
                     .right = Right::operate,
                     .group = "Metrics",
                     .summary = "Count all items of a table again",
                     .description = "Meanwhile work goes on, and the figures stay as they were.",
                     .parameters = {source_parameter()},
                     .answers = {{202, "It begins."},
                                 {404, "Nothing of this name is counted (SOURCE_NOT_FOUND, NO_METRICS)."},
                                 {409, "It is not counted now (NOT_COUNTED_HERE)."}}},
       .handle = recount_source,
       .shared = true},
      {.operation = {.id = "listSetAside",
                     .method = "GET",
                     .path = "/figures/set-aside",
                     .right = Right::operate,
                     .group = "Metrics",
                     .summary = "List changes that could not be counted or delivered",
                     .description = "Newest first. They are kept for 30 days. Images can be personal data.",
                     .parameters = {cursor_parameter(), limit_parameter()},
                     .answers = {{200, "A page of them.", {{json_content_type, "SetAsidePage"}}},
                                 {404, no_metrics_text}}},
       .handle = list_set_aside,
       .shared = true,
       .large_answer = true},
      {.operation = {.id = "retrySetAside",
                     .method = "POST",
                     .path = "/figures/set-aside/{id}/retry",
                     .right = Right::operate,
                     .group = "Metrics",
                     .summary = "Try a change again that was set aside",
                     .description =
                         "It is delivered to its subscriber, later than changes that came after it; of a source "
                         "everything is counted again. If it succeeds, the change is no longer in the list.",
                     .parameters = {change_id_parameter()},
                     .answers = {{202, "It is tried soon."},
                                 {404, "There is none of this id (CHANGE_NOT_FOUND, NO_METRICS)."},
                                 {409, "It cannot be tried (NOT_RETRIED)."}}},
       .handle = retry_set_aside,
       .shared = true},
      {.operation = {.id = "dropSetAside",
                     .method = "DELETE",
                     .path = "/figures/set-aside/{id}",
                     .right = Right::operate,
                     .group = "Metrics",
                     .summary = "Forget a change that was set aside",
                     .description = "For a change that is dealt with.",
                     .parameters = {change_id_parameter()},
                     .answers = {{204, "It is forgotten."},
                                 {404, "There is none of this id (CHANGE_NOT_FOUND, NO_METRICS)."}}},
       .handle = drop_set_aside,
       .shared = true},
  };
}

}  // namespace

std::vector<Route> figure_routes() {
  std::vector<Route> routes = dashboard_routes();
  for (Route& route : follower_routes()) routes.push_back(std::move(route));
  return routes;
}

}  // namespace postino::api

#include "wire/operations/insight_operations.h"

#include <charconv>

#include "wire/operations/kept_settings.h"
#include "wire/protocol/enums.h"

namespace postino::wire {

namespace {

constexpr std::size_t max_listed_insights = 100;

// The table, or an index of it.
store::Answer<store::InsightsTarget> target_of(InsightsInput& input) {
  store::Constraints constraints;
  constraints.check_not_null("tableName", input.table_name.has_value());
  TRY_VOID(constraints.outcome());
  TRY(std::string table, required_table(std::move(input.table_name)));
  return store::InsightsTarget{std::move(table), std::move(input.index_name)};
}

store::Answer<void> allowed(const AccessCheck& check, access::Action action, const store::InsightsTarget& target) {
  return check.table_or_index(action, target.table_name, target.index_name ? &*target.index_name : nullptr);
}

void write_target(JsonWriter& json, const store::InsightsDescription& insights) {
  json.key("TableName").string(insights.target.table_name);
  if (insights.target.index_name) json.key("IndexName").string(*insights.target.index_name);
}

void write_state(JsonWriter& json, const store::InsightsDescription& insights, std::string_view status) {
  json.key("ContributorInsightsStatus").string(status);
  if (insights.changed) json.key("ContributorInsightsMode").string(store::word_for(insights.mode));
}

std::string_view settled(const store::InsightsDescription& insights) {
  return insights.enabled ? "ENABLED" : "DISABLED";
}

}  // namespace

store::Answer<UpdateContributorInsights::Request> UpdateContributorInsights::decode(Input input) {
  store::Constraints constraints;
  const auto action = require_word<InsightsAction>(constraints, "contributorInsightsAction", input.action);
  constraints.check_not_null("tableName", input.table_name.has_value());
  const auto mode = check_word<store::InsightsMode>(constraints, "contributorInsightsMode", input.mode);
  TRY_VOID(constraints.outcome());
  TRY(store::InsightsTarget target, target_of(input));
  return Request{std::move(target), *action == InsightsAction::enable, mode};
}

store::Answer<void> UpdateContributorInsights::authorize(const AccessCheck& check, const Request& request) {
  return allowed(check, access::action_named(name), request.target);
}

void UpdateContributorInsights::run(const Services& services, const Request& request,
                                    const store::Completion<Response>& done) {
  change_kept_setting<Response>(services, done, [request](store::ResourceSettings& settings) {
    return settings.update_insights(request.target, request.enabled, request.mode);
  });
}

// The change is done, and told of as under way, as on AWS.
void UpdateContributorInsights::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object();
  write_target(json, response);
  write_state(json, response, response.enabled ? "ENABLING" : "DISABLING");
  json.end_object();
}

store::Answer<store::InsightsTarget> DescribeContributorInsights::decode(Input input) { return target_of(input); }

store::Answer<void> DescribeContributorInsights::authorize(const AccessCheck& check, const Request& request) {
  return allowed(check, access::action_named(name), request);
}

void DescribeContributorInsights::run(const Services& services, const Request& request,
                                      const store::Completion<Response>& done) {
  done(read_kept_setting<Response>(
      services, [&](store::ResourceSettings& settings) { return settings.describe_insights(request); }));
}

void DescribeContributorInsights::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object();
  write_target(json, response);
  write_state(json, response, settled(response));
  if (response.changed) json.key("LastUpdateDateTime").time(*response.changed);
  json.end_object();
}

store::Answer<ListContributorInsights::Request> ListContributorInsights::decode(Input input) {
  store::Constraints constraints;
  if (input.max_results)
    constraints.check_at_most("maxResults", *input.max_results, static_cast<std::int64_t>(max_listed_insights));
  TRY_VOID(constraints.outcome());
  Request request;
  if (input.table_name) {
    TRY(std::string table, required_table(std::move(input.table_name)));
    request.table_name = std::move(table);
  }
  request.limit =
      input.max_results.value_or(0) > 0 ? static_cast<std::size_t>(*input.max_results) : max_listed_insights;
  if (input.next_token) {
    const char* const end = input.next_token->data() + input.next_token->size();
    const auto [read, error] = std::from_chars(input.next_token->data(), end, request.from);
    if (error != std::errc() || read != end) return store::refuse_invalid("Invalid NextToken");
  }
  return request;
}

store::Answer<void> ListContributorInsights::authorize(const AccessCheck& check, const Request& request) {
  return check.table(access::action_named(name), request.table_name ? std::string_view(*request.table_name) : "*");
}

void ListContributorInsights::run(const Services& services, const Request& request,
                                  const store::Completion<Response>& done) {
  done(read_kept_setting<Response>(services, [&](store::ResourceSettings& settings) -> store::Answer<Response> {
    TRY(auto all, settings.list_insights(request.table_name));
    Response page;
    for (std::size_t i = request.from; i < all.size() && page.summaries.size() < request.limit; ++i)
      page.summaries.push_back(std::move(all[i]));
    if (request.from + page.summaries.size() < all.size()) page.next = request.from + page.summaries.size();
    return page;
  }));
}

void ListContributorInsights::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("ContributorInsightsSummaries").begin_array();
  for (const store::InsightsDescription& each : response.summaries) {
    json.begin_object();
    write_target(json, each);
    write_state(json, each, settled(each));
    json.end_object();
  }
  json.end_array();
  if (response.next) json.key("NextToken").string(std::to_string(*response.next));
  json.end_object();
}

}  // namespace postino::wire

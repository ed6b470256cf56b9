#include "wire/operations/settings_operations.h"

#include "wire/protocol/enums.h"
#include "wire/protocol/parameters.h"

namespace postino::wire {

namespace {

using store::Constraints;

// Most settings report a missing table as a broken constraint.
store::Answer<std::string> constrained_table(std::optional<std::string> table_name) {
  Constraints constraints;
  constraints.check_not_null("tableName", table_name.has_value());
  TRY_VOID(constraints.outcome());
  std::string name = table_of(*std::move(table_name));
  TRY_VOID(store::check_table_name(name));
  return name;
}

store::Answer<Done> done_or_error(store::Answer<void> answer) {
  if (!answer) return base::propagate(std::move(answer).error());
  return Done();
}

store::Answer<std::string> required_arn(std::optional<std::string> arn) {
  Constraints constraints;
  constraints.check_not_null("resourceArn", arn.has_value());
  TRY_VOID(constraints.outcome());
  return *std::move(arn);
}

}  // namespace

store::Answer<UpdateTimeToLive::Request> UpdateTimeToLive::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("tableName", input.table_name.has_value());
  constraints.check_not_null("timeToLiveSpecification", input.specification.has_value());
  if (input.specification) {
    constraints.check_not_null("timeToLiveSpecification.enabled", input.specification->enabled.has_value());
    constraints.check_not_null("timeToLiveSpecification.attributeName",
                               input.specification->attribute_name.has_value());
  }
  TRY_VOID(constraints.outcome());
  return Request{table_of(*std::move(input.table_name)),
                 {*std::move(input.specification->attribute_name), *input.specification->enabled}};
}

void UpdateTimeToLive::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  run_on_control_thread<Response>(services, done, [store = services.store, request] {
    return store->update_time_to_live(request.table_name, request.specification);
  });
}

void UpdateTimeToLive::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("TimeToLiveSpecification").begin_object();
  json.key("AttributeName").string(response.attribute_name).key("Enabled").boolean(response.enabled);
  json.end_object().end_object();
}

store::Answer<std::string> DescribeTimeToLive::decode(Input input) {
  return constrained_table(std::move(input.table_name));
}

void DescribeTimeToLive::run(const Services& services, const Request& request,
                             const store::Completion<Response>& done) {
  done(services.store->describe_time_to_live(request));
}

void DescribeTimeToLive::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("TimeToLiveDescription").begin_object();
  if (response.attribute_name) json.key("AttributeName").string(*response.attribute_name);
  json.key("TimeToLiveStatus").string(word_for(response.status)).end_object().end_object();
}

void ContinuousBackups::encode(JsonWriter& json, const Response& recovery, const Reporting&) {
  json.begin_object().key("ContinuousBackupsDescription").begin_object();
  json.key("ContinuousBackupsStatus").string("ENABLED").key("PointInTimeRecoveryDescription").begin_object();
  if (recovery.earliest_restorable) json.key("EarliestRestorableDateTime").time(*recovery.earliest_restorable);
  if (recovery.latest_restorable) json.key("LatestRestorableDateTime").time(*recovery.latest_restorable);
  json.key("PointInTimeRecoveryStatus").string(recovery.enabled ? "ENABLED" : "DISABLED");
  if (recovery.enabled) json.key("RecoveryPeriodInDays").integer(recovery.recovery_period_days);
  json.end_object().end_object().end_object();
}

store::Answer<UpdateContinuousBackups::Request> UpdateContinuousBackups::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("tableName", input.table_name.has_value());
  constraints.check_not_null("pointInTimeRecoverySpecification", input.specification.has_value());
  if (input.specification)
    constraints.check_not_null("pointInTimeRecoverySpecification.pointInTimeRecoveryEnabled",
                               input.specification->enabled.has_value());
  TRY_VOID(constraints.outcome());
  return Request{table_of(*std::move(input.table_name)),
                 {*input.specification->enabled, input.specification->recovery_period_days}};
}

void UpdateContinuousBackups::run(const Services& services, const Request& request,
                                  const store::Completion<Response>& done) {
  run_on_control_thread<Response>(services, done, [store = services.store, request] {
    return store->update_continuous_backups(request.table_name, request.specification);
  });
}

store::Answer<std::string> DescribeContinuousBackups::decode(Input input) {
  return constrained_table(std::move(input.table_name));
}

void DescribeContinuousBackups::run(const Services& services, const Request& request,
                                    const store::Completion<Response>& done) {
  done(services.store->describe_continuous_backups(request));
}

store::Answer<TagResource::Request> TagResource::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("resourceArn", input.resource_arn.has_value());
  constraints.check_not_null("tags", input.tags.has_value());
  for (std::size_t i = 0; input.tags && i < input.tags->size(); ++i) {
    const std::string path = "tags." + std::to_string(i + 1) + ".member";
    constraints.check_not_null(path + ".value", (*input.tags)[i].value.has_value());
    constraints.check_not_null(path + ".key", (*input.tags)[i].key.has_value());
  }
  TRY_VOID(constraints.outcome());
  return Request{*std::move(input.resource_arn), tags_of(*std::move(input.tags))};
}

void TagResource::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  run_on_control_thread<Response>(services, done, [store = services.store, request] {
    return done_or_error(store->tag_resource(request.arn, request.tags));
  });
}

store::Answer<UntagResource::Request> UntagResource::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("resourceArn", input.resource_arn.has_value());
  constraints.check_not_null("tagKeys", input.tag_keys.has_value());
  TRY_VOID(constraints.outcome());
  return Request{*std::move(input.resource_arn), *std::move(input.tag_keys)};
}

void UntagResource::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  run_on_control_thread<Response>(services, done, [store = services.store, request] {
    return done_or_error(store->untag_resource(request.arn, request.keys));
  });
}

store::Answer<std::string> ListTagsOfResource::decode(Input input) {
  return required_arn(std::move(input.resource_arn));
}

void ListTagsOfResource::run(const Services& services, const Request& request,
                             const store::Completion<Response>& done) {
  done(services.store->list_tags_of_resource(request));
}

void ListTagsOfResource::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object();
  if (response.next_token) json.key("NextToken").string(*response.next_token);
  json.key("Tags").begin_array();
  for (const store::Tag& tag : response.tags)
    json.begin_object().key("Key").string(tag.key).key("Value").string(tag.value).end_object();
  json.end_array().end_object();
}

void DescribeLimits::run(const Services&, const Request&, const store::Completion<Response>& done) { done(Done()); }

// The quotas of a new account; none of them is enforced here.
void DescribeLimits::encode(JsonWriter& json, const Response&, const Reporting&) {
  constexpr int account_units = 80'000;
  constexpr int table_units = 40'000;
  json.begin_object().key("AccountMaxReadCapacityUnits").integer(account_units);
  json.key("AccountMaxWriteCapacityUnits").integer(account_units);
  json.key("TableMaxReadCapacityUnits").integer(table_units);
  json.key("TableMaxWriteCapacityUnits").integer(table_units).end_object();
}

void DescribeEndpoints::run(const Services& services, const Request&, const store::Completion<Response>& done) {
  done(*services.address->load());
}

void DescribeEndpoints::encode(JsonWriter& json, const Response& response, const Reporting&) {
  constexpr int cache_minutes = 1'440;
  json.begin_object().key("Endpoints").begin_array().begin_object().key("Address").string(response);
  json.key("CachePeriodInMinutes").integer(cache_minutes).end_object().end_array().end_object();
}

}  // namespace postino::wire

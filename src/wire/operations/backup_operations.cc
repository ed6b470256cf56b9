#include "wire/operations/backup_operations.h"

#include "wire/protocol/parameters.h"

namespace postino::wire {

namespace {

using store::Constraints;

// A restore writes the new table, and who writes it could read it: on AWS it takes the rights to do both.
store::Answer<void> check_target(const AccessCheck& check, const std::string& table_name) {
  for (const access::Action action :
       {access::action_named("BatchWriteItem"), access::action_named("DeleteItem"), access::action_named("GetItem"),
        access::action_named("PutItem"), access::action_named("Query"), access::action_named("Scan"),
        access::action_named("UpdateItem")})
    TRY_VOID(check.table(action, table_name));
  return {};
}

}  // namespace

store::Answer<RestoreTableToPointInTime::Request> RestoreTableToPointInTime::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("targetTableName", input.target_table_name.has_value());
  check_overrides(constraints, input);
  TRY_VOID(constraints.outcome());
  Request request;
  request.source_table_name = std::move(input.source_table_name);
  request.source_table_arn = std::move(input.source_table_arn);
  request.target_table_name = *std::move(input.target_table_name);
  request.time = input.time;
  request.use_latest_time = input.use_latest_time.value_or(false);
  request.overrides = overrides_of(std::move(input));
  return request;
}

store::Answer<void> RestoreTableToPointInTime::authorize(const AccessCheck& check, const Request& request) {
  constexpr access::Action action = access::action_named(name);
  if (request.source_table_arn) TRY_VOID(check.resource(action, *request.source_table_arn));
  if (request.source_table_name || !request.source_table_arn)
    TRY_VOID(check.table(action, request.source_table_name.value_or("")));
  return check_target(check, request.target_table_name);
}

void RestoreTableToPointInTime::run(const Services& services, const Request& request,
                                    const store::Completion<Response>& done) {
  run_on_control_thread<Response>(
      services, done, [store = services.store, request] { return store->restore_table_to_point_in_time(request); });
}

}  // namespace postino::wire

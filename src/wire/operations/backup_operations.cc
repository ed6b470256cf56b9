#include "wire/operations/backup_operations.h"

#include "wire/protocol/parameters.h"

namespace postino::wire {

using store::Constraints;

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

void RestoreTableToPointInTime::run(const Services& services, const Request& request,
                                    const store::Completion<Response>& done) {
  run_on_control_thread<Response>(
      services, done, [store = services.store, request] { return store->restore_table_to_point_in_time(request); });
}

}  // namespace postino::wire

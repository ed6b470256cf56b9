#include "wire/operations/backup_operations.h"

#include "wire/protocol/parameters.h"
#include "wire/protocol/table_json.h"

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

template <class Response, class Call>
store::Answer<Response> with_backups(const Services& services, Call call) {
  store::TableBackups* const backups = services.store->table_backups();
  if (backups == nullptr)
    return store::refuse_invalid("This server keeps its tables in another store: ask that store for backups");
  return call(*backups);
}

template <class Response, class Call>
void change_backups(const Services& services, const store::Completion<Response>& done, Call call) {
  run_on_control_thread<Response>(
      services, done, [&services, call = std::move(call)] { return with_backups<Response>(services, call); });
}

// The type is that of the backup; in lists of several there are names of the table, too.
void write_backup(JsonWriter& json, const store::BackupSummary& backup, bool in_list) {
  json.begin_object();
  if (in_list) {
    json.key("TableName").string(backup.table_name).key("TableId").string(backup.table_id);
    json.key("TableArn").string(backup.table_arn);
  }
  json.key("BackupArn").string(backup.arn).key("BackupName").string(backup.name);
  json.key("BackupSizeBytes").integer(backup.size_bytes).key("BackupStatus").string(word_for(backup.status));
  json.key("BackupType").string(word_for(backup.type)).key("BackupCreationDateTime").time(backup.created);
  if (backup.expires) json.key("BackupExpiryDateTime").time(*backup.expires);
  json.end_object();
}

}  // namespace

store::Answer<CreateBackup::Request> CreateBackup::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("tableName", input.table_name.has_value());
  constraints.check_not_null("backupName", input.backup_name.has_value());
  TRY_VOID(constraints.outcome());
  return Request{table_of(*std::move(input.table_name)), *std::move(input.backup_name)};
}

void CreateBackup::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  change_backups<Response>(services, done, [request](store::TableBackups& backups) {
    return backups.create_backup(request.table_name, request.backup_name);
  });
}

void CreateBackup::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("BackupDetails");
  write_backup(json, response, false);
  json.end_object();
}

store::Answer<std::string> OneBackup::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("backupArn", input.arn.has_value());
  TRY_VOID(constraints.outcome());
  return *std::move(input.arn);
}

void OneBackup::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("BackupDescription").begin_object().key("BackupDetails");
  write_backup(json, response.backup, false);
  write_source(json.key("SourceTableDetails"), response.table);
  write_source_features(json.key("SourceTableFeatureDetails"), response.table, response.time_to_live_attribute);
  json.end_object().end_object();
}

void DescribeBackup::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(
      with_backups<Response>(services, [&](store::TableBackups& backups) { return backups.describe_backup(request); }));
}

void DeleteBackup::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  change_backups<Response>(services, done,
                           [request](store::TableBackups& backups) { return backups.delete_backup(request); });
}

store::Answer<ListBackups::Request> ListBackups::decode(Input input) {
  constexpr std::string_view every_type = "[USER, SYSTEM, AWS_BACKUP, ALL]";
  Constraints constraints;
  Request request;
  if (input.type) {
    request.type = store::value_of<store::BackupType>(*input.type);
    // There are none of AWS's own service for backups.
    const bool is_other = *input.type == "ALL" || *input.type == "AWS_BACKUP";
    if (!request.type && !is_other) constraints.check_one_of("backupType", *input.type, every_type);
    if (*input.type == "AWS_BACKUP") request.until = base::TimePoint();
  }
  TRY_VOID(constraints.outcome());
  if (input.table_name) request.table_name = table_of(*std::move(input.table_name));
  request.from = input.from;
  if (input.until && !request.until) request.until = input.until;
  request.exclusive_start_arn = std::move(input.exclusive_start_arn);
  request.limit = input.limit;
  return request;
}

void ListBackups::run(const Services& services, const Request& request, const store::Completion<Response>& done) {
  done(with_backups<Response>(services, [&](store::TableBackups& backups) { return backups.list_backups(request); }));
}

void ListBackups::encode(JsonWriter& json, const Response& response, const Reporting&) {
  json.begin_object().key("BackupSummaries").begin_array();
  for (const store::BackupSummary& backup : response.backups) write_backup(json, backup, true);
  json.end_array();
  if (response.last_evaluated_arn) json.key("LastEvaluatedBackupArn").string(*response.last_evaluated_arn);
  json.end_object();
}

store::Answer<RestoreTableFromBackup::Request> RestoreTableFromBackup::decode(Input input) {
  Constraints constraints;
  constraints.check_not_null("targetTableName", input.target_table_name.has_value());
  constraints.check_not_null("backupArn", input.arn.has_value());
  check_overrides(constraints, input);
  TRY_VOID(constraints.outcome());
  Request request;
  request.target_table_name = *std::move(input.target_table_name);
  request.backup_arn = *std::move(input.arn);
  request.overrides = overrides_of(std::move(input));
  return request;
}

store::Answer<void> RestoreTableFromBackup::authorize(const AccessCheck& check, const Request& request) {
  constexpr access::Action action = access::action_named(name);
  TRY_VOID(check.resource(action, request.backup_arn));
  TRY_VOID(check.table(action, request.target_table_name));
  return check_target(check, request.target_table_name);
}

void RestoreTableFromBackup::run(const Services& services, const Request& request,
                                 const store::Completion<Response>& done) {
  change_backups<Response>(
      services, done, [request](store::TableBackups& backups) { return backups.restore_table_from_backup(request); });
}

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

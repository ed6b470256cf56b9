// Backups of the whole store: beginning one, and what there is.
#include "api/protocol/schemas.h"
#include "api/route_list.h"
#include "api/routes/json_answer.h"
#include "api/routes/json_members.h"
#include "api/routes/schema_parts.h"

namespace postino::api {

void write_json(AnswerWriter& json, const backup::ListedBackup& listed) {
  json.begin_object();
  json.key("id").string(listed.id);
  if (const auto& manifest = listed.manifest) {
    time_member(json, "taken_at", manifest->taken);
    json.key("number").integer(manifest->number);
    json.key("files").integer(static_cast<std::int64_t>(manifest->files));
    json.key("bytes").integer(static_cast<std::int64_t>(manifest->bytes));
    json.key("new_bytes").integer(static_cast<std::int64_t>(manifest->new_bytes));
  }
  json.key("sealed").boolean(listed.sealed);
  if (listed.verdict) {
    time_member(json, "verified_at", listed.verdict->at);
    json.key("sound").boolean(listed.verdict->sound);
  }
  text_member(json, "problem", listed.verdict ? listed.verdict->problem : listed.problem);
  json.end_object();
}

void write_json(AnswerWriter& json, const backup::BackupState& state) {
  json.begin_object();
  json.key("place").string(state.place);
  json.key("sealed").boolean(state.sealed);
  json.key("running").boolean(!state.doing.empty());
  text_member(json, "doing", state.doing);
  json.key("files").integer(static_cast<std::int64_t>(state.files));
  json.key("bytes").integer(static_cast<std::int64_t>(state.bytes));
  json.key("new_bytes").integer(static_cast<std::int64_t>(state.new_bytes));
  text_member(json, "last_id", state.last_id);
  time_member(json, "ended_at", state.ended);
  text_member(json, "problem", state.problem);
  time_member(json, "newest_at", state.newest);
  time_member(json, "next_at", state.next);
  json.end_object();
}

namespace {

base::Result<backup::Backups*, Problem> backups_of(const Call& call) {
  if (call.services.backups == nullptr)
    return refuse(problems::no_backups, "The server makes no backups; --backup-to says where they go.");
  return call.services.backups;
}

Outcome begin_backup(Call& call) {
  TRY(backup::Backups * backups, backups_of(call));
  TRY_VOID(call.no_fields());
  const auto begun = backups->begin();
  if (!begun && begun.error().code == base::ErrorCode::conflict)
    return refuse(problems::backup_under_way, "A backup is being made.");
  if (!begun) return refuse(problems::overloaded, as_sentence(begun.error().message));
  return json_reply(thing_json(backups->state()), 202);
}

Outcome show_backup_state(Call& call) {
  TRY(backup::Backups * backups, backups_of(call));
  return json_reply(thing_json(backups->state()));
}

Outcome list_all_backups(Call& call) {
  TRY(backup::Backups * backups, backups_of(call));
  const auto listed = backups->list();
  if (!listed)
    return refuse(problems::store_unavailable, "The place of the backups cannot be used: " + listed.error().message);
  return json_reply(list_json(*listed));
}

using enum Presence;

Schema backup_schema() {
  return {.type = "object",
          .properties = {{"id", text("Id of the backup."), required},
                         {"taken_at", time("The moment that it shows. Absent: it cannot be read.")},
                         {"number", count("Of the backups of this place, counted up.")},
                         {"files", count("Files in it.")},
                         {"bytes", count("Bytes of these files.")},
                         {"new_bytes", count("Bytes that the place did not have before.")},
                         {"sealed", flag("Can it be read with the master key only?"), required},
                         {"verified_at", time("When it was last read as a whole.")},
                         {"sound", flag("Was it then as it was written?")},
                         {"problem", text("What is wrong with it, or why it cannot be read.")}}};
}

Schema backup_state_schema() {
  return {.type = "object",
          .properties = {
              {"place", text("Where backups go."), required},
              {"sealed", flag("Is there a master key?"), required},
              {"running", flag("Is a backup being made?"), required},
              {"doing",
               {.type = "string", .description = "What is going on.", .choices = {"writing", "verifying", "removing"}}},
              {"files", count("Files of the present or last one, so far."), required},
              {"bytes", count("Bytes of these files."), required},
              {"new_bytes", count("Bytes that the place did not have before."), required},
              {"last_id", text("Id of the last one that was written.")},
              {"ended_at", time("When the last one of this process ended.")},
              {"problem", text("Why the last one failed, or what is wrong with it.")},
              {"newest_at", time("When the newest backup of the place was taken.")},
              {"next_at", time("When the next one begins by itself.")}}};
}

}  // namespace

std::vector<NamedSchema> backup_schemas() {
  return {{"Backup", backup_schema()},
          {"Backups", {.type = "object", .properties = {{"data", list_of(like("Backup")), required}}}},
          {"BackupState", backup_state_schema()}};
}

std::vector<Route> backup_routes() {
  constexpr std::string_view none = "The server makes no backups (NO_BACKUPS).";
  return {
      {.operation = {.id = "beginBackup",
                     .method = "POST",
                     .path = "/backups",
                     .right = Right::operate,
                     .group = "Backups",
                     .summary = "Begin a backup of the whole store",
                     .description = "It goes on after the answer: GET /backups/state tells how far it is, and what "
                                    "became of it.",
                     .answers = {{202, "It has begun.", {{json_content_type, "BackupState"}}},
                                 {404, none},
                                 {409, "One is being made already (BACKUP_UNDER_WAY)."}}},
       .handle = begin_backup,
       .shared = true},
      {.operation = {.id = "listBackups",
                     .method = "GET",
                     .path = "/backups",
                     .right = Right::operate,
                     .group = "Backups",
                     .summary = "List the backups of the store, oldest first",
                     .answers = {{200, "The backups.", {{json_content_type, "Backups"}}}, {404, none}}},
       .handle = list_all_backups,
       .shared = true,
       .waits = Waits::for_others},
      {.operation = {.id = "showBackupState",
                     .method = "GET",
                     .path = "/backups/state",
                     .right = Right::operate,
                     .group = "Backups",
                     .summary = "Show what is going on with backups",
                     .answers = {{200, "The state.", {{json_content_type, "BackupState"}}}, {404, none}}},
       .handle = show_backup_state,
       .shared = true},
  };
}

}  // namespace postino::api

#include "wire/audited_calls.h"

#include <algorithm>

#include "json/document.h"

namespace postino::wire {

namespace {

// The member that names what a request is about: the first of these that it has.
constexpr std::string_view naming_members[] = {"TargetTableName", "TableName", "BackupArn",
                                               "ResourceArn",     "TableArn",  "ExportArn"};
constexpr std::size_t longest_read_body = 64 << 10;

std::string subject_of(std::string_view body) {
  if (body.size() > longest_read_body) return "";
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(body, errors)) return "";
  for (const std::string_view name : naming_members)
    if (const auto member = document.root().member(name); member && member->text()) return std::string(*member->text());
  // Of an import: the table that it makes.
  const auto table = document.root().member("TableCreationParameters");
  const auto name = table ? table->member("TableName") : std::nullopt;
  return name && name->text() ? std::string(*name->text()) : "";
}

}  // namespace

bool is_audited(const Operation& operation) {
  constexpr std::string_view reads[] = {"Describe", "List", "Get"};
  return operation.plane == Plane::control &&
         std::ranges::none_of(reads, [&](std::string_view begin) { return operation.name.starts_with(begin); });
}

access::AuditEvent audit_event(const Operation& operation, const Signer& signer, std::string from,
                               std::string_view body) {
  access::AuditEvent event;
  event.actor = signer.key_id;
  event.kind = signer.key_id.empty() ? access::AuditEvent::local : access::AuditEvent::access_key;
  event.from = std::move(from);
  event.action = std::string("dynamodb:").append(operation.name);
  event.subject = subject_of(body);
  return event;
}

Reply audit_not_written() {
  return failure(
      {store::ErrorType::service_unavailable, "The audit cannot be written now. What it would tell of is not done."});
}

}  // namespace postino::wire

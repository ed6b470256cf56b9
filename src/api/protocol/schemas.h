// The shapes of bodies and answers, by their names in the OpenAPI document.
#pragma once

#include <string_view>
#include <vector>

#include "api/protocol/schema.h"

namespace postino::api {

struct NamedSchema {
  std::string_view name;
  Schema schema;
};

const std::vector<NamedSchema>& all_schemas();
// Among them those of messages, and of reminders.
std::vector<NamedSchema> message_schemas();
std::vector<NamedSchema> draft_schemas();
std::vector<NamedSchema> customer_schemas();
std::vector<NamedSchema> reminder_template_schemas();
// And of the capacity planner.
std::vector<NamedSchema> capacity_schemas();
std::vector<NamedSchema> observation_schemas();
// And of tickets, and what belongs to them.
std::vector<NamedSchema> ticket_schemas();
std::vector<NamedSchema> ticket_record_schemas();
// And of live metrics.
std::vector<NamedSchema> figure_schemas();
std::vector<NamedSchema> session_schemas();
std::vector<NamedSchema> audit_schemas();
std::vector<NamedSchema> backup_schemas();
std::vector<NamedSchema> key_schemas();

// There must be one of this name.
const Schema& schema_named(std::string_view name);

}  // namespace postino::api

// E-mails as the API shows them.
#pragma once

#include <string>

#include "api/protocol/access.h"
#include "json/writer.h"
#include "outbox/outbox.h"

namespace postino::api {

// Reasons that are for operators are told to operators alone.
std::string to_json(const outbox::ShownEmail& shown, Role role);
// {"data":[...],"cursor":"..."}, with null at the end.
std::string to_json(const outbox::EmailPage& page, Role role);
// {"data":[...]}
std::string to_json(const std::vector<outbox::Email>& emails, Role role);

// "cursor":"..."|null, the last member of a page.
void write_cursor(json::Writer& json, const std::string& cursor);

}  // namespace postino::api

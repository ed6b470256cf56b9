// Who acts: for the audit, and for the rule that drafter and approver differ.
#pragma once

#include <string>

#include "mail/text_rules.h"
#include "store/note_answer.h"

namespace postino::reminders {

struct Actor {
  std::string tenant;  // whose customers these are; empty: those of the company itself, which has no tenants
  std::string name;    // the person or program, as the caller says: "user_123", "ai_system"; empty: the key's name
  std::string key;     // the name of the API key that was used; empty where there are none
  std::string from;    // the address that the request came from; empty: from within the process
  // What is done is done once: its commit writes down what the answer tells of. Each of several commits writes down how
  // far they have come.
  store::NoteAnswer note_answer = {};
  store::NoteProgress note_progress = {};

  // As it is written down.
  const std::string& known_as() const { return name.empty() ? key : name; }
  // Does anything say who it is? What decides needs that.
  bool is_known() const { return !mail::folded(known_as()).empty(); }
};

}  // namespace postino::reminders

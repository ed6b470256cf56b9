// Who acts: what they may see, and what events say about them.
#pragma once

#include <string>

#include "store/note_answer.h"
#include "support/scope.h"

namespace postino::support {

struct Actor {
  Scope scope = {};
  std::string name = {};  // the person or program, as the caller says; empty: the key's name
  std::string key = {};   // the name of the API key that was used; empty where there are none
  // What is done is done once: a change of a ticket writes down what the answer tells of.
  store::NoteAnswer note_answer = {};

  // As it is written down.
  const std::string& known_as() const { return name.empty() ? key : name; }
};

}  // namespace postino::support

// One call that the API knows: how it is reached, who may make it, what it takes and answers, and who handles it.
//
// The router and the OpenAPI document are made from the same list of these, so that they cannot differ.
#pragma once

#include <string_view>
#include <vector>

#include "api/call.h"

namespace postino::api {

enum class Place { path, query, header };

struct Parameter {
  std::string_view name;
  Place place = Place::query;
  std::string_view schema;  // JSON
  std::string_view description;
};

struct Content {
  std::string_view type;
  std::string_view schema;  // the name of one in schemas.h; empty: bytes
};

struct Body {
  std::vector<Content> contents;  // what it may be
  bool required = false;
};

// Problems need no content: theirs is always the same.
struct Answer {
  int status = 200;
  std::string_view description;
  std::vector<Content> contents;
};

// What handlers wait for. Each has threads of its own, so that none keeps the others back.
enum class Waits : std::uint8_t {
  briefly,       // for the store
  for_others,    // a message broker
  for_messages,  // perhaps for minutes, until somebody else has put them there
};

struct Route {
  std::string_view method;
  std::string_view path;  // "/emails/{id}/cancel"
  Role role = Role::operators;
  std::string_view operation;  // a name for programs that are made from the document: "cancelEmail"
  std::string_view group;
  std::string_view summary;
  std::string_view description;
  std::vector<Parameter> parameters;  // those of the path as well
  Body body;
  std::vector<Answer> answers;  // beside those that every route has
  Outcome (*handle)(Call& call) = nullptr;
  // For calls that need no thread of their own while they wait: begins one at once, and `finish` is called later, from
  // any thread. False, and `finish` is not called: handle() is to do it.
  bool (*begin)(Call& call, const Finish& finish) = nullptr;
  bool shared = false;    // about what belongs to no single tenant: not for keys of one
  bool own_keys = false;  // of a POST: sees to its Idempotency-Key itself, because it has more to do with it
  Waits waits = Waits::briefly;
  bool direct = false;  // answered at once, without waiting for anything
};

// Those of the route itself, and those that come with its role and its body. Ordered by status.
std::vector<Answer> all_answers(const Route& route);

// Every route there is.
const std::vector<Route>& all_routes();

// The groups they are written in.
std::vector<Route> acceptance_routes();
std::vector<Route> email_routes();
std::vector<Route> change_routes();
std::vector<Route> callback_routes();
std::vector<Route> bounce_routes();
std::vector<Route> suppression_routes();
std::vector<Route> mailbox_routes();
std::vector<Route> message_routes();
std::vector<Route> description_routes();

// Parameters that many have.
Parameter email_id_parameter();
Parameter cursor_parameter();
Parameter limit_parameter();
Parameter idempotency_key_parameter();
Parameter idempotency_expiry_parameter();

}  // namespace postino::api

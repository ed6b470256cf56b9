// An operation of the REST API, as both sides know it: how it is reached, who may call it, what it takes and answers.
//
// There is one list of them. The server's router and the OpenAPI document are made from it, and so are the requests,
// the options and the help of the command line: they cannot differ.
#pragma once

#include <string_view>
#include <vector>

#include "api/protocol/role.h"
#include "api/protocol/schema.h"

namespace postino::api {

enum class ParameterPlace { path, query, header };

struct Parameter {
  std::string_view name;
  ParameterPlace place = ParameterPlace::query;
  Schema schema;              // with the description
  bool required = false;      // one of the path always is
  bool may_be_empty = false;  // one of the query: then it is as good as absent. Others with an empty value are refused
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
struct AnswerDescription {
  int status = 200;
  std::string_view description;
  std::vector<Content> contents;
};

struct Operation {
  std::string_view id;  // "cancelEmail": a name that stays, for programs that are made from the OpenAPI document
  std::string_view method;
  std::string_view path;  // "/emails/{id}/cancel"
  Right right = Right::operate;
  std::string_view group;
  std::string_view summary;
  std::string_view description;
  std::vector<Parameter> parameters;  // those of the path as well
  Body body;
  std::vector<AnswerDescription> answers;  // ordered by status
  std::string_view former_path = {};       // leads there as well, and has no parameters; empty: none
};

// nullptr when there is none.
const Parameter* find_parameter(const Operation& operation, std::string_view name);

// Of a JSON body that it takes, and of the JSON that it answers with when it succeeds; nullptr when there is none.
const Schema* body_schema(const Operation& operation);
const Schema* answer_schema(const Operation& operation);

}  // namespace postino::api

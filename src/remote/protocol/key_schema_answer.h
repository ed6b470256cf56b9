// Key schemas, which tables, indexes and streams tell.
#pragma once

#include "remote/protocol/answer_reader.h"

namespace postino::remote {

inline bool read_key_schema(AnswerReader& reader, AnswerReader::Json json, store::KeySchema& out) {
  return reader.elements(json, [&](AnswerReader::Json each) {
    store::KeyElement& element = out.emplace_back();
    return reader.members(each, [&](std::string_view name, AnswerReader::Json value) {
      if (name == "AttributeName") return reader.text(value, element.name);
      return name == "KeyType" ? reader.word(value, element.role) : true;
    });
  });
}

}  // namespace postino::remote

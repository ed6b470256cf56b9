// NextToken: a position in what a statement reads. Clients keep tokens, so that they outlive the process: their layout
// begins with a version.
//
//   version (1 byte) | fingerprint of the statement (16) | range (varint) | key (item codec), or nothing
//
// all in base64.
#pragma once

#include <string>
#include <string_view>

#include "partiql/read_page.h"
#include "partiql/requests.h"

namespace postino::partiql {

// Of text and parameters: a token is good for the statement that it came from alone.
std::string fingerprint_of(const Statement& statement);

std::string encode_token(const std::string& fingerprint, const PagePosition& position);

// Fails with DynamoDB's message for what is no token, and for another statement's.
store::Answer<PagePosition> decode_token(const std::string& fingerprint, std::string_view token);

}  // namespace postino::partiql

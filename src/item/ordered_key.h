// Bytes whose order is the order of keys. The layout is part of the disk format: docs/formats.md.
#pragma once

#include <string>

#include "item/value.h"

namespace postino::item {

// Appends a scalar (S, N or B) so that memcmp orders encodings of one type as DynamoDB orders the values, and no
// encoding is a prefix of another: parts can follow each other. Zero bytes of strings are escaped.
void append_ordered(std::string& out, const AttributeValue& scalar);

// Like append_ordered for a last part that nothing follows: strings and binaries as they are.
void append_ordered_last(std::string& out, const AttributeValue& scalar);

}  // namespace postino::item

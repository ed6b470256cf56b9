// A JSON object as people read it: a line for each member, what is inside others below them.
#pragma once

#include <string>

#include "json/document.h"

namespace postino::app {

// Made printable. Members that are null or empty are left out; texts of several lines, and
// lists of lines with the sign of a diff before each, stand below their names.
std::string object_text(json::Element object);

}  // namespace postino::app

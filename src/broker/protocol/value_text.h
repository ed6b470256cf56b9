// Values of AMQP 1.0, in the few kinds that our messages have.
#pragma once

#include <proton/message_id.hpp>
#include <proton/value.hpp>
#include <string>

#include "broker/protocol/message.h"

namespace postino::broker {

// The bytes in hexadecimal, unless they are UTF-8. AMQP says that its strings are; what a sender has written need not
// be.
std::string readable(std::string bytes);

// Integers that fit, true and false, and floating point as they are. Everything else is a readable text: times in RFC
// 3339, UUIDs in their usual form, lists and maps in JSON.
Scalar scalar_of(const proton::value& value);

std::string text_of(const proton::value& value);
std::string text_of(const proton::message_id& id);

// Of anything, up to a depth of 32.
std::string json_of(const proton::value& value);

}  // namespace postino::broker

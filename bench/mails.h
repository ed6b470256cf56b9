// The data of the benchmarks: e-mails of 1 KB in eight attributes, told apart by a number.
#pragma once

#include <cstdint>
#include <string>

#include "item/value.h"

namespace postino::bench {

inline constexpr std::size_t mail_size = 1'024;  // as DynamoDB counts it
inline constexpr std::uint64_t mails_per_conversation = 100;

// Well spread over all identifiers, so that mails with neighbouring numbers do not lie side by side.
std::string mail_id(std::uint64_t number);
std::string conversation_id(std::uint64_t conversation);

item::Item make_mail(std::uint64_t number);

// Turns a mail into another one in place, as a caller would that uses a request again.
void become_mail(item::Item& mail, std::uint64_t number);

// A text that compresses as badly as encoded attachments do, different for every number.
inline constexpr std::size_t body_size = 800;
std::string_view mail_body(std::uint64_t number);

// Numbers in no order; another sequence for every object.
class RandomNumbers {
 public:
  RandomNumbers();
  std::uint64_t next();

 private:
  std::uint64_t state_;
};

}  // namespace postino::bench

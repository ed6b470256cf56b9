// The fuzz targets. Each takes any bytes, and ends the process by CHECK when what must hold does not.
#pragma once

#include <string_view>

namespace postino::fuzz {

void fuzz_amqp_message(std::string_view input);
void fuzz_expression(std::string_view input);
void fuzz_http(std::string_view input);
void fuzz_item_codec(std::string_view input);
void fuzz_key(std::string_view input);
void fuzz_message_request(std::string_view input);
void fuzz_number(std::string_view input);
void fuzz_partiql(std::string_view input);
void fuzz_payload(std::string_view input);
void fuzz_policy(std::string_view input);
void fuzz_report(std::string_view input);
void fuzz_request(std::string_view input);
void fuzz_service_answer(std::string_view input);

struct Target {
  const char* name;  // of its folder in the corpus
  void (*run)(std::string_view input);
};
inline constexpr Target targets[] = {
    {"amqp_message", fuzz_amqp_message},
    {"expression", fuzz_expression},
    {"http", fuzz_http},
    {"item_codec", fuzz_item_codec},
    {"key", fuzz_key},
    {"message_request", fuzz_message_request},
    {"number", fuzz_number},
    {"partiql", fuzz_partiql},
    {"payload", fuzz_payload},
    {"policy", fuzz_policy},
    {"report", fuzz_report},
    {"request", fuzz_request},
    {"service_answer", fuzz_service_answer},
};

}  // namespace postino::fuzz

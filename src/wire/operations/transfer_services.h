// What the operations on exports and imports have in common.
#pragma once

#include "exchange/exchange.h"
#include "wire/operations/table_operations.h"

namespace postino::wire {

// The words of the protocol.
std::string_view status_word(exchange::TransferStatus status);
std::string_view format_word(exchange::DataFormat format);

void write_failure(JsonWriter& json, const std::optional<exchange::Failure>& failure);

template <class Response, class Call>
store::Answer<Response> with_exchange(const Services& services, Call call) {
  if (services.exchange == nullptr)
    return store::refuse_invalid(
        "This server has no place for exports and imports: start it with --export-directory or --objects-endpoint");
  return call(*services.exchange);
}

template <class Response, class Call>
void begin_transfer(const Services& services, const store::Completion<Response>& done, Call call) {
  run_on_control_thread<Response>(
      services, done, [&services, call = std::move(call)] { return with_exchange<Response>(services, call); });
}

}  // namespace postino::wire

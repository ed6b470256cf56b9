// How operations come to what the embedded store keeps with its tables for those who control them.
#pragma once

#include "wire/operations/table_operations.h"

namespace postino::wire {

template <class Response, class Call>
store::Answer<Response> read_kept_setting(const Services& services, Call call) {
  store::ResourceSettings* const settings = services.store->resource_settings();
  if (settings == nullptr)
    return store::refuse_invalid(
        "This server keeps its tables in another store: ask that store for resource policies and contributor insights");
  return call(*settings);
}

template <class Response, class Call>
void change_kept_setting(const Services& services, const store::Completion<Response>& done, Call call) {
  run_on_control_thread<Response>(
      services, done, [&services, call = std::move(call)] { return read_kept_setting<Response>(services, call); });
}

}  // namespace postino::wire

// POSTs that can be sent again: with an Idempotency-Key a request is carried out once, and whoever repeats it gets the
// answer of the first time.
#pragma once

#include <functional>

#include "api/route.h"

namespace postino::api {

// Does the API see to the keys of this route? Those that have to do more with a key do so themselves.
bool is_carried_out_once(const Route& route);

// What the API adds to the description of such a route.
void describe_keys(Route& route);

// Answers the call, by way of `handle` if need be. With a key that was used before it answers what was answered then,
// or why it cannot. Only success is kept: a request that was refused has changed nothing, and its key may be used
// again.
Outcome handle_once(const Route& route, Call& call, const std::function<Outcome()>& handle);

}  // namespace postino::api

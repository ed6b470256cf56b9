// Where sessions are: in the table of the support desk.
#pragma once

#include <memory>
#include <string>

#include "access/sessions.h"
#include "store/retry.h"
#include "store/store.h"

namespace postino::app {

// The table is made when the first caller signs in, unless it is there. Everything given must outlive the sessions.
std::unique_ptr<access::Sessions> make_sessions(store::Store& store, const std::string& table, const base::Clock& clock,
                                                base::Random& random, const store::Retry& retry);

}  // namespace postino::app

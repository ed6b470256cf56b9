// Waiting for something that tells nobody when it happens, like the state of an e-mail behind a REST API.
#pragma once

#include "base/clock.h"

namespace postino::app {

void pause(base::Milliseconds duration);

}  // namespace postino::app

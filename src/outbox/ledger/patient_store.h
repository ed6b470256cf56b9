// The outbox is patient with its store.
#pragma once

#include "store/patience.h"

namespace postino::outbox {

using store::as_error;
using store::Patience;
using store::worth_repeating;

}  // namespace postino::outbox

// Where the outbox begins to read its queues of work.
#pragma once

#include "store/queue_cursor.h"

namespace postino::outbox {

using store::QueueCursor;

}  // namespace postino::outbox

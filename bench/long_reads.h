// What long reads do to the short ones beside them.
#pragma once

#include <cstdint>

#include "rounds.h"

namespace postino::bench {

// Prints how long GetItem takes alone, and beside clients that query, one query after the other, a partition of which
// everything was removed. Makes and fills a table of its own; GetItem reads the items of "mails".
void measure_beside_long_reads(std::uint16_t port, const Plan& plan);

}  // namespace postino::bench

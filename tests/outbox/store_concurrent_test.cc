// What many do at once on the embedded store.
#include "store_ledger_under_test.h"

namespace postino::outbox {

std::vector<LedgerFactory> ledgers_under_test() { return {store_ledger("Store", SpoolChoice::store)}; }

}  // namespace postino::outbox

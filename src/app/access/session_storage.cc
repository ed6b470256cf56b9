#include "app/access/session_storage.h"

#include "support/ticket_store.h"

namespace postino::app {

std::unique_ptr<access::Sessions> make_sessions(store::Store& store, const std::string& table, const base::Clock& clock,
                                                base::Random& random, const store::Retry& retry) {
  const support::SupportTables tables{.tickets = table};
  access::SessionOptions options;
  options.table = tables.tickets;
  options.prepare = [&store, &clock, &random, retry, tables] {
    return support::TicketStore(store, tables, clock, random, retry).prepare({});
  };
  return std::make_unique<access::Sessions>(store, std::move(options), clock, random, retry);
}

}  // namespace postino::app

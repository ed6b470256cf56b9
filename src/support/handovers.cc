#include "support/handovers.h"

#include "base/log.h"

namespace postino::support {

Answer<int> Handovers::run_once(int limit) {
  int done = 0;
  std::optional<Refusal> trouble;
  for (int shard = 0; shard < handover_shards; ++shard) {
    store::QueryRequest request;
    request.table_name = store_.tables().tickets;
    request.key_condition = "PK = :pk";
    request.placeholders.values = item::Map{{":pk", Keys::handover(shard)}};
    request.consistent_read = true;
    request.limit = limit;
    do {
      TRY(store::PageResponse page, store_.query(request));
      for (const item::Item& item : page.items) {
        if (done == limit) return done;
        const auto handed = hand_over(item);
        if (handed) {
          ++done;
          continue;
        }
        base::log_warning("support", "an e-mail of a ticket is not in the outbox yet",
                          {{"record", key_text(item)}, {"cause", handed.error().message}});
        trouble = handed.error();
      }
      request.exclusive_start_key = std::move(page.last_evaluated_key);
    } while (request.exclusive_start_key);
  }
  if (done == 0 && trouble) return base::propagate(*std::move(trouble));
  return done;
}

Answer<void> Handovers::hand_over(const item::Item& item) {
  const auto handover = read_handover(item);
  if (!handover) return base::propagate(refusal_of(handover.error()));
  const auto payload = outbox::parse_payload(handover->payload);
  if (!payload) return base::propagate(refusal_of(payload.error()));
  if (const auto accepted = mail_.accept(*payload, handover->tenant); !accepted)
    return base::propagate(refusal_of(accepted.error()));
  return store_.write({store_.removal(handover_key(handover->email_id))});
}

}  // namespace postino::support

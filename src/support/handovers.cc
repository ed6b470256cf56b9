#include "support/handovers.h"

#include <utility>

#include "base/log.h"
#include "item/attribute_text.h"

namespace postino::support {

namespace {

constexpr int most_refused = 10;         // by an outbox that is away, in one run
constexpr std::size_t most_told = 1000;  // records; then the log tells of them again

// Is it about the outbox or the store as a whole? Otherwise it is about one record.
bool is_away(const Refusal& refusal) {
  return refusal.kind == RefusalKind::unavailable || refusal.kind == RefusalKind::outcome_unknown;
}

}  // namespace

Answer<int> Handovers::run_once(int limit) {
  if (mail_.shares_commits() && !store_.take_expected_handovers()) return 0;
  has_seen_all_ = false;
  auto done = run(limit);
  if (!has_seen_all_) store_.expect_handovers();
  if (!done && is_away(done.error()) && away_.fails(done.error().message))
    base::log_warning("support", "e-mails of tickets do not get into the outbox", {{"cause", done.error().message}});
  if (done && away_.works()) base::log_info("support", "e-mails of tickets get into the outbox again");
  return done;
}

Answer<int> Handovers::run(int limit) {
  int done = 0;
  int refused = 0;
  std::optional<Refusal> trouble;
  const Position from = std::exchange(position_, {});
  for (int shard = from.shard; shard < handover_shards; ++shard) {
    store::QueryRequest request;
    request.table_name = store_.tables().tickets;
    request.key_condition = "PK = :pk";
    request.placeholders.values = item::Map{{":pk", Keys::handover(shard)}};
    request.consistent_read = true;
    request.limit = limit;
    if (shard == from.shard) request.exclusive_start_key = from.after;
    do {
      TRY(store::PageResponse page, store_.query(request));
      for (const item::Item& item : page.items) {
        if (done == limit) return done;
        const auto handed = hand_over(item);
        if (handed) {
          ++done;
          continue;
        }
        trouble = handed.error();
        if (is_away(*trouble)) {
          if (++refused < most_refused) continue;
          position_ = {shard, Keys::key(item::attribute_text(item, "PK"), item::attribute_text(item, "SK"))};
          if (done > 0) return done;
          return base::propagate(*std::move(trouble));
        }
        if (told_.size() == most_told) told_.clear();
        if (told_.insert(key_text(item)).second)
          base::log_warning("support", "an e-mail of a ticket is not in the outbox yet",
                            {{"record", key_text(item)}, {"cause", trouble->message}});
      }
      request.exclusive_start_key = std::move(page.last_evaluated_key);
    } while (request.exclusive_start_key);
  }
  if (done == 0 && trouble) return base::propagate(*std::move(trouble));
  has_seen_all_ = !trouble && from.shard == 0 && !from.after;
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

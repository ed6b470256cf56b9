#include "support/handovers.h"

#include <utility>

#include "base/log.h"

namespace postino::support {

namespace {

// Is it about the outbox or the store as a whole? Otherwise it is about one record.
bool is_away(const Refusal& refusal) {
  return refusal.kind == RefusalKind::unavailable || refusal.kind == RefusalKind::outcome_unknown;
}

}  // namespace

bool Handovers::may_wait() {
  const base::Milliseconds now = store_.clock().monotonic();
  const bool is_expected = !mail_.shares_commits() || store_.take_expected_handovers();
  const bool may_be_others =
      store_.store().is_shared() && (!looked_ || now - *looked_ >= outbox::look_for_others_every);
  if (!is_expected && !may_be_others) return false;
  looked_ = now;
  return true;
}

OrRefusal<int> Handovers::run_once(int limit) {
  if (!may_wait()) return 0;
  auto done = walk_.run(steps(), limit);
  if (!walk_.has_seen_all()) store_.expect_handovers();
  if (!done && is_away(done.error()) && away_.fails(done.error().message))
    base::log_warning("support", "e-mails of tickets do not get into the outbox", {{"cause", done.error().message}});
  if (done && away_.works()) base::log_info("support", "e-mails of tickets get into the outbox again");
  return done;
}

Handovers::Walk::Steps Handovers::steps() {
  Walk::Steps steps;
  steps.table = store_.tables().tickets;
  for (int shard = 0; shard < handover_shards; ++shard) steps.partitions.push_back(Keys::handover(shard));
  steps.query = [this](const store::QueryRequest& request) -> OrRefusal<Walk::Records> {
    TRY(store::PageResponse page, store_.query(request));
    return Walk::Records{std::move(page.items), std::move(page.last_evaluated_key)};
  };
  steps.hand_over = [this](const item::Item& record) { return hand_over(record); };
  steps.is_away = is_away;
  steps.name_of = key_text;
  steps.tell = [](const std::string& record, const Refusal& refusal) {
    base::log_warning("support", "an e-mail of a ticket is not in the outbox yet",
                      {{"record", record}, {"cause", refusal.message}});
  };
  return steps;
}

OrRefusal<void> Handovers::hand_over(const item::Item& item) {
  const auto handover = read_handover(item);
  if (!handover) return base::propagate(refusal_of(handover.error()));
  const auto payload = outbox::parse_payload(handover->payload);
  if (!payload) return base::propagate(refusal_of(payload.error()));
  if (const auto accepted = mail_.accept(*payload, handover->tenant); !accepted)
    return base::propagate(refusal_of(accepted.error()));
  return store_.write({store_.removal(handover_key(handover->email_id))});
}

}  // namespace postino::support

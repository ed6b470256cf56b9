// Acceptance of one e-mail in one transaction with items of others.
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/store_ledger.h"

namespace postino::outbox {

JoinedOutcome StoreLedger::accept_with(NewEmail accepted, std::vector<store::TransactAction> actions) {
  Email& email = accepted.change.after;
  email.acceptance_token = base::make_uuid(random_);
  JoinedOutcome outcome;
  const auto contents =
      spool_contents<store::TransactPut>(email, std::move(accepted.payload), std::move(accepted.change.message),
                                         expires(email), [&](const SpoolObject& object) { return put_away(object); });
  if (!contents) {
    // The commit was not tried: whatever became of the contents, nothing names them.
    outcome.error.emplace(store::ErrorType::service_unavailable, contents.error().message);
    return outcome;
  }

  store::TransactWriteItemsRequest request;
  request.actions = std::move(actions);
  const std::size_t place = request.actions.size();
  store::TransactPut meta;
  meta.table_name = tables_.emails;
  meta.item = meta_item(email, life_of(email), shards_.most());
  meta.condition = "attribute_not_exists(Id)";
  request.actions.emplace_back(std::move(meta));
  for (const NewLine& line : accepted.change.lines) request.actions.emplace_back(put_line(email, line));
  for (const store::TransactPut& put : contents->writes) request.actions.emplace_back(put);
  CountChanges counts;
  counts.entered(email);
  add_counts(counts, request);

  store::CountMender mender = mender_of_counts(store_, tables_.counts());
  bool is_unknown = false;  // whether an attempt was done, because the store failed
  while (true) {
    const auto answer = retry_([&] {
      auto tried = store_.transact_write_items(request);
      if (!tried && tried.error().type == store::ErrorType::internal_server_error) is_unknown = true;
      return tried;
    });
    if (answer) {
      outcome.email = std::move(email);
      return outcome;
    }
    if (mender.mend(request, answer.error())) continue;
    outcome.known = condition_failed(answer.error(), place);
    outcome.error = answer.error();
    if (!is_unknown) contents->remove_written(spool());
    return outcome;
  }
}

}  // namespace postino::outbox

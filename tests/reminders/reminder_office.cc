#include "reminder_office.h"

#include "base/check.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/store_tables.h"

namespace postino::reminders {

namespace {

const outbox::Policy& usual_policy() {
  static const outbox::Policy policy;
  return policy;
}

}  // namespace

ReminderOffice::ReminderOffice(RemindersStore& on, store::Store& through, ReminderMailer* other_mail,
                               ApprovalRules rules)
    : records(through, on.records().tables(), on.records().rules(), on.clock(), on.random(), on.retry()),
      ledger(through, {}, usual_policy(), on.clock(), on.random(), on.retry()),
      suppressions(through, {}, on.retry()),
      outbox(ledger, suppressions, usual_policy(), on.clock(), on.random(), signal, {}),
      own_mail(outbox, through),
      mail(other_mail != nullptr ? *other_mail : own_mail),
      customers(records, &mail),
      approvals(records, customers, mail, std::move(rules)),
      handovers(records, mail),
      deliveries(records, customers, mail),
      history(records) {
  CHECK(outbox::prepare_tables(on.engine(), {}).has_value());
}

std::vector<outbox::Email> ReminderOffice::emails() {
  const auto page =
      outbox.list({.tenant = {}, .states = {}, .since = {}, .until = {}, .filter = {}, .cursor = {}, .limit = 100});
  EXPECT_TRUE(page) << page.error().message;
  return page ? page->emails : std::vector<outbox::Email>();
}

std::string put_draft(RemindersStore& store, const std::string& customer, const std::string& type, base::TimePoint at) {
  while (store.get("CUSTOMER#" + customer, "DRAFT#" + key_time(at) + "_" + customer)) at += std::chrono::seconds(1);
  store.put(seed_draft(customer, at, type));
  return key_time(at) + "_" + customer;
}

std::string outcome_of(const OrRefusal<SentReminder>& answer) {
  if (answer) return "";
  switch (answer.error().kind) {
    case RefusalKind::invalid:
      return "invalid";
    case RefusalKind::unknown_draft:
      return "unknown_draft";
    case RefusalKind::other_revision:
      return "other_revision";
    case RefusalKind::wrong_state:
      return "wrong_state";
    case RefusalKind::rule:
      return std::string(name_of(answer.error().decision->reason));
    case RefusalKind::stopped:
      return "stopped";
    case RefusalKind::no_sender:
      return "no_sender";
    case RefusalKind::same_person:
      return "same_person";
    case RefusalKind::busy:
      return "busy";
    case RefusalKind::unavailable:
      return "unavailable";
    case RefusalKind::outcome_unknown:
      return "outcome_unknown";
    case RefusalKind::corrupt:
      return "corrupt";
    default:
      return answer.error().message;
  }
}

}  // namespace postino::reminders

#include "app/server/reminder_sample.h"

#include <ostream>

#include "base/timestamp.h"

namespace postino::app {

namespace {

constexpr const char* customer_id = "sample_customer";
constexpr const char* template_id = "sample_reminder";
constexpr const char* reminder_type = "first";

template <class T>
base::Result<T> plain(reminders::OrRefusal<T> answer) {
  if (!answer) return base::fail(base::ErrorCode::io, "the sample reminder: " + answer.error().message);
  return *std::move(answer);
}

base::Result<void> put_sample(reminders::Reminders& reminders, base::TimePoint now, const reminders::Actor& actor) {
  reminders::Customer customer;
  customer.id = customer_id;
  customer.name = "Ann Example";
  customer.email = "ann@example.org";
  TRY(customer, plain(reminders.customers().put(customer, actor)));
  reminders::Invoice invoice;
  invoice.customer_id = customer_id;
  invoice.id = "INV-1";
  TRY(invoice.amount, reminders::Money::parse("1500.00", "EUR"));
  invoice.due_date = reminders::date_of(now - std::chrono::hours(24 * 14));
  if (!reminders.customers().find_invoice(customer_id, invoice.id, "")) {
    TRY(invoice, plain(reminders.customers().put_invoice(invoice, actor)));
  }
  if (reminders.templates().find(template_id, std::nullopt, "")) return {};
  reminders::Branding branding;
  branding.name = "sample";
  branding.from = "Billing <billing@example.com>";
  branding.company = "Example Ltd";
  TRY(branding, plain(reminders.templates().put_branding(branding, actor)));
  reminders::TemplateVersion version;
  version.template_id = template_id;
  version.name = "Sample";
  version.subject = "Payment reminder: invoice {{invoice_id}}";
  version.body = "Dear {{customer_name}},\n\n{{overdue_amount}} was due on {{due_date}}.\n\n{{company_name}}\n";
  version.branding = branding.name;
  TRY(version, plain(reminders.templates().add_version(version, actor)));
  return {};
}

}  // namespace

base::Result<void> show_reminder_sample(reminders::Reminders& reminders, const base::Clock& clock, base::Pause& pause,
                                        std::ostream& out) {
  constexpr auto interval = std::chrono::milliseconds(20);
  constexpr int rounds = 500;
  reminders::Actor actor;
  actor.name = "sample";
  if (reminders.rules().find(reminder_type) == nullptr) return {};  // a company with rules of its own
  TRY_VOID(put_sample(reminders, clock.now(), actor));
  TRY(const auto now, plain(reminders.drafts().explain(customer_id, reminder_type, "")));
  if (!now.decision.is_allowed() || !now.stopped.empty()) {  // it was sent at an earlier start
    out << "The sample reminder is on record (see it with: postino reminders customers history " << customer_id
        << "); another one would be refused now: " << (now.stopped.empty() ? now.decision.explanation : now.stopped)
        << "\n";
    return {};
  }
  reminders::NewDraft draft;
  draft.customer_id = customer_id;
  draft.reminder_type = reminder_type;
  draft.template_id = template_id;
  TRY(const reminders::ShownDraft drafted, plain(reminders.drafts().make(draft, actor)));
  TRY(reminders::SentReminder sent,
      plain(reminders.approvals().approve(drafted.draft.id, drafted.draft.revision, actor)));
  for (int round = 0; round < rounds && sent.delivery == reminders::DeliveryStatus::queued; ++round) {
    reminders.wake();
    pause.wait(interval);
    TRY(sent, plain(reminders.history().find(customer_id, sent.id, "")));
  }
  out << "A sample reminder was drafted, approved and sent to the sandbox (see it with: postino reminders customers "
         "history "
      << customer_id << "):\n  " << base::format_timestamp(sent.sent_at) << "  " << sent.reminder_type << "  "
      << name_of(sent.delivery) << "  " << sent.text.subject << "\n";
  return {};
}

}  // namespace postino::app

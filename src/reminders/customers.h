// Customers and their invoices.
//
// Whatever may stop a reminder (a payment, an opt-out, a bounce, a complaint) is written in one commit with the guard
// of the customer, so that no approval overlooks it. Reminders that were approved before, and wait in the outbox, are
// called back afterwards (recalls.h). Safe to call from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reminders/actor.h"
#include "reminders/page.h"
#include "reminders/recalls.h"
#include "reminders/record/customer.h"
#include "reminders/record/invoice.h"
#include "reminders/refusal.h"

namespace postino::reminders {

class Keys;
class ReminderStore;  // reminder_store.h: the table, clock, retries, audit and summary that all of them share

struct Overdue {
  Customer customer;
  std::vector<Invoice> invoices;  // unpaid and past due, the oldest first
  std::vector<Money> totals;      // what is still to be paid, one for each currency
};

struct Payment {
  std::string amount;                      // a decimal, not more than is left; empty: all that is left
  std::string currency;                    // empty: that of the invoice
  std::optional<base::TimePoint> paid_at;  // empty: now
  std::string reference;                   // of the paying system: the same one again changes nothing
};

// What was stored, whether that was new, and which reminders that waited were called back for it.
template <class T>
struct Taken {
  T record;
  bool changed = false;
  Recalled recalled = {};
};

// What was stored, and which reminders that waited were called back for it.
template <class T>
struct Stopping : T {
  Recalled recalled = {};
};

tl::unexpected<Refusal> refuse_unknown_customer(const std::string& id);

class Customers {
 public:
  // `mail` is where reminders wait that were approved; nullptr: nothing is called back here. Both must outlive it.
  explicit Customers(ReminderStore& store, ReminderMailer* mail = nullptr) : store_(store), mail_(mail) {}

  // Makes it or changes name and address. What the customer has decided, and counts, stay: also those of a customer of
  // this id that was erased. Bounces are those of an address, and end with it. `opted_out` is taken when it is true.
  // `says_opted_out`: the caller has said so, also that it is false, which is refused for one who has opted out.
  OrRefusal<Taken<Customer>> take(const Customer& customer, const Actor& actor, bool says_opted_out = false);
  OrRefusal<Customer> put(const Customer& customer, const Actor& actor);  // the same
  OrRefusal<Customer> find(const std::string& id, const std::string& tenant);
  // unknown_customer unless there is a record of it, or a draft or reminder of another program tells of it.
  OrRefusal<void> check_known(const std::string& id, const std::string& tenant);
  // The last one of each type that counts for the rules, also of other programs, by their types.
  OrRefusal<std::vector<LastSent>> last_reminders(const std::string& id, const std::string& tenant);
  OrRefusal<Page<Customer>> list(const PageRequest& page, const std::string& tenant);  // by id
  OrRefusal<Page<Customer>> late_payers(const PageRequest& page, const std::string& tenant);

  // These two make the record of a customer who is known only by drafts or sent reminders of another program.
  OrRefusal<Stopping<Customer>> opt_out(const std::string& id, const std::string& reason, const Actor& actor);
  OrRefusal<Stopping<Customer>> complain(const std::string& id, const std::string& reason, const Actor& actor);
  OrRefusal<Customer> opt_in(const std::string& id, const Actor& actor);  // also forgets bounces and complaints
  // From the outbox. `address` is the one that bounced: if the customer has another one by now nothing is changed.
  OrRefusal<Customer> hard_bounce(const std::string& id, const std::string& words, const Actor& actor,
                                  const std::string& address = {});

  // Makes it or changes it: amount, due date, and what is paid, which only grows. `paid_at` alone says that all of it
  // is paid. A paid one can no longer be changed: wrong_state; only the day is taken, if it was not known. The same
  // again changes nothing. `says_paid`: the caller has said how much is paid, also nothing; less than before is
  // refused.
  OrRefusal<Taken<Invoice>> take_invoice(const Invoice& invoice, const Actor& actor, bool says_paid = false);
  OrRefusal<Stopping<Invoice>> put_invoice(const Invoice& invoice, const Actor& actor);  // the same
  // When nothing that was overdue is left, the drafts of the customer are withdrawn in the same commit; otherwise those
  // that name none but invoices that are no longer overdue. A draft that is written at this moment is written on
  // condition of the guard's version, so none is overlooked.
  OrRefusal<Stopping<Invoice>> pay(const std::string& customer_id, const std::string& invoice_id,
                                   const Payment& payment, const Actor& actor);
  OrRefusal<Invoice> find_invoice(const std::string& customer_id, const std::string& invoice_id,
                                  const std::string& tenant);
  OrRefusal<Page<Invoice>> invoices(const std::string& customer_id, const PageRequest& page, const std::string& tenant);
  OrRefusal<Page<Invoice>> all_invoices(const PageRequest& page, const std::string& tenant);  // by customer and id

  // Of one customer.
  OrRefusal<Overdue> overdue(const std::string& customer_id, const std::string& tenant);
  // Of all, the longest overdue first; each customer once, at the place of its oldest invoice.
  OrRefusal<Page<Overdue>> all_overdue(const PageRequest& page, const std::string& tenant);

 private:
  // Decides again as long as others change the customer. `decide` is false when there is nothing to change.
  // `if_unknown`: what is done for a customer without a record.
  enum class IfUnknown { refuse, make };
  OrRefusal<Customer> change(const std::string& id, const Actor& actor, const std::string& action,
                             const std::function<bool(Customer&)>& decide, IfUnknown if_unknown = IfUnknown::refuse);
  // `must_not_object`: it is refused if the customer has opted out before, and was erased or removed since.
  OrRefusal<Customer> make(const Keys& keys, Customer customer, const Actor& actor, bool must_not_object = false);
  // A customer who can be sent a reminder can be stopped: one of whom only drafts and sent reminders tell gets a
  // record. unknown_customer when nothing tells of it, or it was erased.
  OrRefusal<void> make_from_reminders(const Keys& keys, const std::string& id, const Actor& actor);
  OrRefusal<Taken<Customer>> take_known(const Customer& customer, const Actor& actor, bool says_opted_out);
  // Of a customer who gets none any more, or of those that are concerned.
  Recalled recall(const std::string& id, const std::string& reason, const Actor& actor,
                  const ReminderChoice& is_concerned = {});
  // With what was called back.
  Stopping<Customer> stopped(Customer customer, const Actor& actor);
  // Writes what an invoice has become, and all that follows from it.
  OrRefusal<Recalled> write_invoice(const Keys& keys, const std::optional<Invoice>& before, const Invoice& after,
                                    bool is_late, const std::string& action, const Actor& actor);
  OrRefusal<std::optional<Invoice>> stored_invoice(const Keys& keys, const std::string& customer_id,
                                                   const std::string& invoice_id);

  ReminderStore& store_;
  ReminderMailer* const mail_;
};

}  // namespace postino::reminders

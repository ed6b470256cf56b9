// The part of Customers that is about invoices.
#include <algorithm>
#include <map>

#include "base/log.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "item/attribute_text.h"
#include "reminders/customer_commit.h"
#include "reminders/customer_records.h"
#include "reminders/customers.h"
#include "reminders/listing.h"
#include "reminders/record/customer_item.h"
#include "reminders/record/invoice_item.h"

namespace postino::reminders {

namespace {

constexpr std::size_t most_overdue = 10'000;                            // of one customer
constexpr base::Milliseconds clock_tolerance = std::chrono::hours(24);  // dates are those of all time zones

std::string invoice_subject(const Invoice& invoice) {
  return "customers/" + invoice.customer_id + "/invoices/" + invoice.id;
}

OrRefusal<Invoice> readable_invoice(const item::Item& item) {
  auto invoice = read_invoice(item);
  if (!invoice) return base::propagate(refusal_of(invoice.error()));
  return *std::move(invoice);
}

OrRefusal<void> check_invoice(const Invoice& invoice, base::TimePoint now) {
  Refusal refusal;
  const auto note = [&](const char* field, std::string rule) {
    if (refusal.faults.empty()) refusal.message = std::string(field) + " " + rule;
    refusal.faults.push_back({field, std::move(rule)});
  };
  if (!is_record_id(invoice.customer_id)) note("customer_id", std::string(record_id_rule));
  if (!is_record_id(invoice.id)) note("invoice_id", std::string(record_id_rule));
  if (!is_currency(invoice.amount.currency))
    note("currency", std::string(currency_rule));
  else if (const auto amount = Money::parse(invoice.amount.amount.to_string(), invoice.amount.currency); !amount)
    note("amount", amount.error().message);
  else if (const auto paid = Money::parse(invoice.paid.to_string(), invoice.amount.currency); !paid)
    note("paid", paid.error().message);
  if (invoice.amount.amount.is_zero()) note("amount", "must be more than zero");
  if (!is_date(invoice.due_date)) note("due_date", std::string(date_rule));
  if (invoice.paid_at && *invoice.paid_at > now + clock_tolerance) note("paid_at", "must not be in the future");
  if (invoice.paid_at && !invoice.paid.is_zero() && invoice.paid < invoice.amount.amount)
    note("paid_at", "must be missing as long as less than the amount is paid");
  if (!refusal.faults.empty()) return base::propagate(std::move(refusal));
  return {};
}

// It is paid from the moment when enough is.
void settle(Invoice& invoice, const std::optional<base::TimePoint>& paid_at, base::TimePoint now) {
  if (!invoice.is_paid() && invoice.paid >= invoice.amount.amount) invoice.paid_at = paid_at.value_or(now);
}

// Payments are not taken back.
OrRefusal<void> check_paid(const Invoice& before, const Invoice& given, bool says_paid) {
  if (says_paid && given.paid < before.paid && !given.paid_at)
    return refuse_field(
        "paid", "must not be less than what is paid already, " + Money{before.paid, before.amount.currency}.text());
  // What was paid before may be more than an amount that is lowered afterwards.
  if (given.paid > given.amount.amount && given.paid > before.paid)
    return refuse_field("paid", "must not be more than the amount, " + given.amount.text());
  return {};
}

// What a caller says of an invoice that is paid: only the day of it may be new, if it was not known.
OrRefusal<Invoice> with_day(const Invoice& before, const Invoice& given, bool says_paid) {
  if (before.amount != given.amount || before.due_date != given.due_date)
    return refuse(RefusalKind::wrong_state, "the invoice " + given.id + " is paid, and can no longer be changed");
  TRY_VOID(check_paid(before, given, says_paid));
  Invoice after = before;
  if (!given.paid_at) return after;
  if (before.paid_day_unknown) {
    after.paid_at = given.paid_at;
    after.paid_day_unknown = false;
  } else if (date_of(*given.paid_at) != date_of(*before.paid_at)) {
    return refuse_field("paid_at", "must stay " + base::format_timestamp(*before.paid_at) +
                                       ", because the invoice is paid, and can no longer be changed");
  }
  return after;
}

// What a caller says of an invoice that is not paid yet.
OrRefusal<Invoice> merged(const Invoice& before, const Invoice& given, bool says_paid, base::TimePoint now) {
  if (before.amount.currency != given.amount.currency && !before.paid.is_zero())
    return refuse_field("currency", "must stay " + before.amount.currency + ", because a part is paid");
  TRY_VOID(check_paid(before, given, says_paid));
  Invoice after = before;
  after.amount = given.amount;
  after.due_date = given.due_date;
  after.paid = std::max(before.paid, given.paid_at ? std::max(given.paid, given.amount.amount) : given.paid);
  settle(after, given.paid_at, now);
  after.paid_day_unknown = after.is_paid() && !given.paid_at && (says_paid || given.paid > before.paid);
  return after;
}

OrRefusal<item::Number> amount_of(const Payment& payment, const Invoice& invoice) {
  const std::string& currency = invoice.amount.currency;
  if (!payment.currency.empty() && payment.currency != currency)
    return refuse_field("currency", "must be " + currency + ", as that of the invoice");
  if (payment.amount.empty()) return invoice.left().amount;
  const auto amount = Money::parse(payment.amount, currency);
  if (!amount) return refuse_field("amount", amount.error().message);
  if (amount->amount.is_zero()) return refuse_field("amount", "must be more than zero");
  if (invoice.left().amount < amount->amount)
    return refuse_field("amount", "must not be more than what is left, " + invoice.left().text());
  return amount->amount;
}

OrRefusal<void> check_payment(const Payment& payment, base::TimePoint now) {
  if (payment.reference.size() > longest_reference || base::has_control_character(payment.reference))
    return refuse_field("reference", "must be at most " + std::to_string(longest_reference) +
                                         " bytes without line breaks or other control characters");
  if (payment.paid_at && (*payment.paid_at > now + clock_tolerance || *payment.paid_at < base::TimePoint()))
    return refuse_field("paid_at", "must not be in the future, nor before 1970");
  return {};
}

// Dates before today.
store::QueryRequest overdue_query(const ReminderStore& store, const Keys& keys, const std::string& customer_id) {
  store::QueryRequest request;
  request.table_name = store.tables().tracking;
  request.key_condition = "PK = :pk AND SK BETWEEN :from AND :until";
  // The key of an invoice that is due today goes on behind the date, so it comes after it.
  request.placeholders.values = item::Map{{":from", unpaid_begin},
                                          {":pk", keys.customer(customer_id)},
                                          {":until", std::string(unpaid_begin) + date_of(store.clock().now())}};
  request.consistent_read = true;
  return request;
}

OrRefusal<bool> has_other_overdue(ReminderStore& store, const Keys& keys, const Invoice& invoice) {
  store::QueryRequest request = overdue_query(store, keys, invoice.customer_id);
  request.limit = 2;
  do {
    TRY(ReminderStore::QueryPage page, store.query(request));
    for (const item::Item& item : page.items)
      if (item::attribute_text(item, "invoice_id") != invoice.id) return true;
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key);
  return false;
}

OrRefusal<Overdue> overdue_of(ReminderStore& store, const Keys& keys, Customer customer) {
  store::QueryRequest request = overdue_query(store, keys, customer.id);
  Overdue overdue;
  do {
    TRY(ReminderStore::QueryPage page, store.query(request));
    for (const item::Item& item : page.items) {
      TRY(Invoice invoice, readable_invoice(item));
      overdue.invoices.push_back(std::move(invoice));
    }
    if (overdue.invoices.size() > most_overdue)
      return refuse(RefusalKind::wrong_state, "the customer " + customer.id + " has more than " +
                                                  std::to_string(most_overdue) + " overdue invoices");
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key);
  overdue.totals = totals_left(overdue.invoices);
  overdue.customer = std::move(customer);
  return overdue;
}

}  // namespace

OrRefusal<std::optional<Invoice>> Customers::stored_invoice(const Keys& keys, const std::string& customer_id,
                                                            const std::string& invoice_id) {
  TRY(const std::optional<item::Item> item,
      store_.get(keys.customer(customer_id), std::string(invoice_begin) + invoice_id));
  if (!item) return std::nullopt;
  TRY(Invoice invoice, readable_invoice(*item));
  return std::optional(std::move(invoice));
}

OrRefusal<Recalled> Customers::write_invoice(const Keys& keys, const std::optional<Invoice>& before,
                                             const Invoice& after, bool is_late, const std::string& action,
                                             const Actor& actor) {
  Commit commit = store_.begin();
  const bool was_overdue = before && is_overdue(*before, commit.now());
  // First, so that a caller that changes what is read next is noticed.
  std::optional<Guard> guard;
  if (before) {
    TRY(guard, store_.mended_guard(keys, after.customer_id, actor));
  }
  const bool is_settled = was_overdue && !is_overdue(after, commit.now());
  bool has_others = false;
  if (is_settled) {
    TRY(has_others, has_other_overdue(store_, keys, after));
  }
  expr::Placeholders seen;
  if (before) seen.values = item::Map{{":seen", before->version}};
  commit.put(invoice_item(keys, after), before ? "version = :seen" : "attribute_not_exists(PK)", std::move(seen));
  const bool moves = before && !before->is_paid() && (after.is_paid() || after.due_date != before->due_date);
  if (moves) {
    store::TransactDelete removal;
    removal.table_name = commit.tables().tracking;
    removal.key = unpaid_key(keys, *before);
    commit.add(std::move(removal));
  }
  if (!after.is_paid()) commit.put(unpaid_item(keys, after));
  if (guard) commit.move_guard(keys, after.customer_id, *guard, *guard);

  if (is_late) {
    TRY(const std::optional<Customer> customer, mended_customer(store_, keys, after.customer_id, actor));
    if (!customer) return refuse_unknown_customer(after.customer_id);
    Customer late = *customer;
    ++late.late_payments;
    ++late.version;
    late.updated_at = commit.now();
    add_change(commit, keys, *customer, late);
    if (is_late_payer(late)) commit.put(late_payer_item(keys, late.id));
  } else {
    add_presence(commit, keys, after.customer_id);
  }
  if (after.is_paid() && !(before && before->is_paid())) commit.count(keys, "paid", after.customer_id);
  commit.audit(actor, action, invoice_subject(after),
               {{"amount", after.amount.text()}, {"due_date", after.due_date}, {"left", after.left().text()}},
               store_.random());
  const std::string reason = has_others        ? std::string(settled_reason)
                             : after.is_paid() ? "nothing of what was overdue is left to be paid"
                                               : "no invoice of the customer is overdue any more";
  const ReminderChoice is_concerned = [&](const item::Item& item) -> OrRefusal<bool> {
    if (!has_others) return true;
    return are_settled(store_, keys, after.customer_id, invoices_in(item), after.id);
  };
  if (is_settled) {
    TRY(const std::vector<std::string> drafts,
        pending_drafts(store_, keys, after.customer_id, most_withdrawn_at_once, is_concerned));
    add_withdrawals(commit, keys, after.customer_id, drafts, reason, actor, store_.random());
  }
  // Which reminders are called back is not known yet.
  if (actor.note_answer) commit.add(actor.note_answer(""));
  TRY_VOID(store_.write(std::move(commit)));
  if (!is_settled) return Recalled();
  // The payment is written, whatever becomes of these.
  if (const auto rest = withdraw_rest(store_, keys, after.customer_id, reason, actor, is_concerned); !rest)
    base::log_warning("reminders", "drafts of a customer who has paid are not withdrawn",
                      {{"customer", after.customer_id}, {"cause", rest.error().message}});
  return recall(after.customer_id, reason, actor, is_concerned);
}

OrRefusal<Taken<Invoice>> Customers::take_invoice(const Invoice& invoice, const Actor& actor, bool says_paid) {
  TRY_VOID(check_invoice(invoice, store_.clock().now()));
  const Keys keys = store_.keys(actor.tenant);
  for (int round = 0; round < change_rounds; ++round) {
    const base::TimePoint now = store_.clock().now();
    TRY(const std::optional<Invoice> before, stored_invoice(keys, invoice.customer_id, invoice.id));
    Invoice after;
    const bool was_paid = before && before->is_paid();
    if (before) {
      TRY(after, was_paid ? with_day(*before, invoice, says_paid) : merged(*before, invoice, says_paid, now));
      if (after == *before) return Taken<Invoice>{*before};
    } else {
      TRY(const std::optional<Customer> customer, mended_customer(store_, keys, invoice.customer_id, actor));
      if (!customer) return refuse_unknown_customer(invoice.customer_id);
      Invoice fresh;
      fresh.customer_id = invoice.customer_id;
      fresh.id = invoice.id;
      fresh.created_at = now;
      fresh.amount.currency = invoice.amount.currency;
      TRY(after, merged(fresh, invoice, says_paid, now));
    }
    after.updated_at = now;
    ++after.version;
    const bool is_paid_now = after.is_paid() && !was_paid;
    const std::string action = !before ? "invoice.created" : is_paid_now ? "invoice.paid" : "invoice.changed";
    // Of one that is only said to be paid the day is unknown: it does not count as paid late.
    const bool is_late = invoice.paid_at && was_paid_late(after);
    auto written = write_invoice(keys, before, after, is_late, action, actor);
    if (written) return Taken<Invoice>{after, true, *std::move(written)};
    if (written.error().kind != RefusalKind::busy) return base::propagate(written.error());
  }
  return refuse(RefusalKind::busy, "others change the invoice " + invoice.id + "; try again");
}

OrRefusal<Stopping<Invoice>> Customers::put_invoice(const Invoice& invoice, const Actor& actor) {
  TRY(Taken<Invoice> taken, take_invoice(invoice, actor));
  return Stopping<Invoice>{std::move(taken.record), std::move(taken.recalled)};
}

OrRefusal<Stopping<Invoice>> Customers::pay(const std::string& customer_id, const std::string& invoice_id,
                                            const Payment& payment, const Actor& actor) {
  TRY_VOID(check_payment(payment, store_.clock().now()));
  const Keys keys = store_.keys(actor.tenant);
  // It tells a payment that was written, without our hearing of it, from another one.
  const std::string reference = payment.reference.empty() ? base::make_uuid(store_.random()) : payment.reference;
  for (int round = 0; round < change_rounds; ++round) {
    TRY(const Invoice before, find_invoice(customer_id, invoice_id, actor.tenant));
    const auto known = std::ranges::find(before.payments, reference, &RecordedPayment::reference);
    if (known != before.payments.end()) {
      const auto amount = Money::parse(payment.amount, before.amount.currency);
      if (payment.amount.empty() || (amount && amount->amount == known->amount)) return Stopping<Invoice>{before};
      return refuse(RefusalKind::wrong_state, "the payment " + reference + " is known with another amount, " +
                                                  Money{known->amount, before.amount.currency}.text());
    }
    if (before.is_paid()) return refuse(RefusalKind::wrong_state, "the invoice " + invoice_id + " is paid already");
    if (before.payments.size() == most_payments)
      return refuse(RefusalKind::wrong_state, "the invoice " + invoice_id + " has " + std::to_string(most_payments) +
                                                  " payments, which is the most that are kept");
    TRY(const item::Number amount, amount_of(payment, before));
    Invoice after = before;
    const base::TimePoint now = store_.clock().now();
    const auto paid = item::Number::add(before.paid, amount);
    if (!paid) return refuse_field("amount", paid.error().message);
    after.paid = *paid;
    after.payments.push_back({reference, amount, payment.paid_at.value_or(now)});
    settle(after, payment.paid_at, now);
    after.updated_at = now;
    ++after.version;
    const auto written = write_invoice(keys, before, after, was_paid_late(after),
                                       after.is_paid() ? "invoice.paid" : "invoice.partly_paid", actor);
    if (written) return Stopping<Invoice>{after, *written};
    if (written.error().kind != RefusalKind::busy) return base::propagate(written.error());
  }
  return refuse(RefusalKind::busy, "others change the invoice " + invoice_id + "; try again");
}

OrRefusal<Invoice> Customers::find_invoice(const std::string& customer_id, const std::string& invoice_id,
                                           const std::string& tenant) {
  std::optional<Invoice> invoice;
  if (is_record_id(customer_id) && is_record_id(invoice_id)) {
    TRY(invoice, stored_invoice(store_.keys(tenant), customer_id, invoice_id));
  }
  if (invoice) return *std::move(invoice);
  TRY_VOID(find(customer_id, tenant));
  return refuse(RefusalKind::unknown_invoice, is_record_id(invoice_id)
                                                  ? "the customer " + customer_id + " has no invoice " + invoice_id
                                                  : "the customer " + customer_id + " has no such invoice");
}

OrRefusal<Page<Invoice>> Customers::invoices(const std::string& customer_id, const PageRequest& page,
                                             const std::string& tenant) {
  TRY_VOID(find(customer_id, tenant));
  Listing listing;
  listing.name = "invoices/" + customer_id;
  listing.partitions = {store_.keys(tenant).customer(customer_id)};
  listing.begin_with(std::string(invoice_begin));
  TRY(const Page<item::Item> items, list_items(store_, listing, page));
  return readable_page<Invoice>(items, "invoices", read_invoice);
}

OrRefusal<Page<Invoice>> Customers::all_invoices(const PageRequest& page, const std::string& tenant) {
  Listing listing;
  listing.name = "invoices";
  listing.partitions = {store_.keys(tenant).listing("INVOICES")};
  listing.in_index = true;
  TRY(const Page<item::Item> items, list_items(store_, listing, page));
  return readable_page<Invoice>(items, "invoices", read_invoice);
}

OrRefusal<Overdue> Customers::overdue(const std::string& customer_id, const std::string& tenant) {
  TRY(Customer customer, find(customer_id, tenant));
  return overdue_of(store_, store_.keys(tenant), std::move(customer));
}

OrRefusal<Page<Overdue>> Customers::all_overdue(const PageRequest& page, const std::string& tenant) {
  const Keys keys = store_.keys(tenant);
  // A customer is shown where its oldest invoice is, so on one page alone.
  std::map<std::string, std::optional<Overdue>> looked_up;
  std::optional<Refusal> trouble;
  Page<Overdue> answer;
  const auto is_oldest = [&](const item::Item& item) {
    const std::string id = item::attribute_text(item, "customer_id");
    if (trouble) return false;
    if (!looked_up.contains(id)) {
      auto found = overdue(id, tenant);
      if (!found && found.error().kind == RefusalKind::corrupt)
        leave_out(answer, "overdue", found.error().message);
      else if (!found && found.error().kind != RefusalKind::unknown_customer)
        trouble = found.error();
      looked_up[id] = found ? std::optional(*std::move(found)) : std::nullopt;
    }
    const auto& overdue = looked_up[id];
    return overdue && !overdue->invoices.empty() &&
           overdue->invoices.front().id == item::attribute_text(item, "invoice_id");
  };
  Listing listing;
  listing.name = "overdue";
  listing.partitions = keys.all_of_status("unpaid");
  listing.in_index = true;
  listing.to = date_of(store_.clock().now());
  listing.shows = is_oldest;
  TRY(const Page<item::Item> items, list_items(store_, listing, page));
  if (trouble) return base::propagate(*std::move(trouble));
  answer.cursor = items.cursor;
  for (const item::Item& item : items.entries)
    answer.entries.push_back(*looked_up[item::attribute_text(item, "customer_id")]);
  return answer;
}

}  // namespace postino::reminders

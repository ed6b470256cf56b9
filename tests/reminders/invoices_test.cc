// Invoices and payments: what is overdue, who pays late, and what a payment does to drafts.
#include "base/many_threads_testing.h"
#include "base/timestamp.h"
#include "customers_environment.h"
#include "failing_store.h"
#include "reminders/customer_commit.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class InvoicesTest : public ::testing::Test {
 protected:
  // The store's time begins at 2026-01-02T03:04:05Z.
  static constexpr const char* yesterday = "2026-01-01";
  static constexpr const char* today = "2026-01-02";

  explicit InvoicesTest(int shards = 1) : store_({.tracking = "EmailTrackingTable", .shards = shards}) {
    EXPECT_TRUE(succeeded(customers().put(test_customer(), test_actor)));
  }

  Customers& customers() { return store_.customers(); }
  Invoice put(const Invoice& invoice) {
    const auto answer = customers().put_invoice(invoice, test_actor);
    EXPECT_TRUE(succeeded(answer));
    return answer ? Invoice(*answer) : Invoice();
  }
  OrRefusal<Invoice> pay(const std::string& id, const std::string& amount = "", const std::string& reference = "") {
    return customers().pay("cust_001", id, test_payment(amount, reference), test_actor);
  }
  Invoice find(const std::string& id) {
    const auto answer = customers().find_invoice("cust_001", id, "");
    EXPECT_TRUE(succeeded(answer));
    return answer ? *answer : Invoice();
  }
  Customer customer() { return customers().find("cust_001", "").value_or(Customer()); }
  std::vector<std::string> overdue(const std::string& id = "cust_001") {
    const auto answer = customers().overdue(id, "");
    EXPECT_TRUE(succeeded(answer));
    std::vector<std::string> all;
    if (!answer) return all;
    for (const Invoice& invoice : answer->invoices) all.push_back(invoice.id);
    for (const Money& total : answer->totals) all.push_back(total.text());
    return all;
  }
  void set_time(const std::string& text) {
    store_.time().advance(base::parse_timestamp(text).value() - store_.time().now());
  }
  std::string draft(base::TimePoint at = test_start) {
    store_.put(seed_draft("cust_001", at, "first"));
    return key_time(at) + "_cust_001";
  }

  CustomersEnvironment store_;
};

TEST_F(InvoicesTest, AreStoredOnce) {
  const auto first = customers().take_invoice(test_invoice("INV-1", today), test_actor);
  ASSERT_TRUE(succeeded(first));
  EXPECT_TRUE(first->changed);
  EXPECT_EQ(find("INV-1"), first->record);
  store_.time().advance(1s);
  const auto again = customers().take_invoice(test_invoice("INV-1", today), test_actor);
  ASSERT_TRUE(succeeded(again));
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(again->record, first->record);
  put(test_invoice("INV-1", "2026-02-01", "120.50"));
  EXPECT_EQ(find("INV-1").amount.text(), "120.50 EUR");
  EXPECT_EQ(find("INV-1").version, 2);
  EXPECT_THAT(store_.sort_keys("CUSTOMER#cust_001"),
              ::testing::UnorderedElementsAre("GUARD", "INVOICE#INV-1", "PROFILE", "UNPAID#2026-02-01#INV-1"));
}

TEST_F(InvoicesTest, ThatBreakRulesAreRefusedWithTheField) {
  const auto field_of = [&](const Invoice& invoice) {
    const auto answer = customers().put_invoice(invoice, test_actor);
    if (answer || answer.error().faults.empty()) return std::string("none");
    return answer.error().faults.front().field;
  };
  Invoice invoice = test_invoice("INV-1", today);
  EXPECT_EQ(field_of(test_invoice("INV 1", today)), "invoice_id");
  EXPECT_EQ(field_of(test_invoice("INV-1", today, "1", "a/b")), "customer_id");
  EXPECT_EQ(field_of(test_invoice("INV-1", "2026-02-30")), "due_date");
  EXPECT_EQ(field_of(test_invoice("INV-1", today, "0")), "amount");
  invoice.amount.amount = item::Number(-1);
  EXPECT_EQ(field_of(invoice), "amount");
  invoice.amount.amount = item::Number::parse("1.005").value();
  EXPECT_EQ(field_of(invoice), "amount");
  invoice = test_invoice("INV-1", today);
  invoice.amount.currency = "euro";
  EXPECT_EQ(field_of(invoice), "currency");
  invoice = test_invoice("INV-1", today);
  invoice.paid = item::Number(-1);
  EXPECT_EQ(field_of(invoice), "paid");
  invoice.paid = item::Number(1);
  invoice.paid_at = test_start;
  EXPECT_EQ(field_of(invoice), "paid_at") << "not all of it is paid";
  invoice.paid = item::Number(100);
  invoice.paid_at = test_start + 24h + 1ms;
  EXPECT_EQ(field_of(invoice), "paid_at") << "in the future";
  invoice.paid_at = test_start + 24h;
  EXPECT_EQ(field_of(invoice), "none");
  EXPECT_EQ(refusal_kind(customers().put_invoice(test_invoice("INV-2", today, "1", "nobody"), test_actor)),
            RefusalKind::unknown_customer);
  EXPECT_EQ(refusal_kind(customers().find_invoice("cust_001", "INV-2", "")), RefusalKind::unknown_invoice);
}

TEST_F(InvoicesTest, ArePaidInParts) {
  put(test_invoice("INV-1", yesterday));
  ASSERT_TRUE(succeeded(pay("INV-1", "40.01")));
  EXPECT_EQ(find("INV-1").left().text(), "59.99 EUR");
  EXPECT_THAT(overdue(), ElementsAre("INV-1", "59.99 EUR"));
  const std::int64_t guard = store_.guard_version();
  store_.time().advance(1s);
  ASSERT_TRUE(succeeded(pay("INV-1", "59.99")));
  EXPECT_EQ(store_.guard_version(), guard + 1);
  EXPECT_EQ(find("INV-1").paid_at, test_start + 1s);
  EXPECT_THAT(find("INV-1").payments, SizeIs(2));
  EXPECT_THAT(overdue(), IsEmpty());
  EXPECT_EQ(refusal_kind(pay("INV-1")), RefusalKind::wrong_state);
  EXPECT_EQ(store_.get("CUSTOMER#cust_001", "UNPAID#2026-01-01#INV-1"), std::nullopt);
}

TEST_F(InvoicesTest, AreNotPaidWithMoreThanIsLeft) {
  put(test_invoice("INV-1", yesterday));
  EXPECT_EQ(refusal_text(pay("INV-1", "100.01")), "amount must not be more than what is left, 100.00 EUR");
  ASSERT_TRUE(succeeded(pay("INV-1", "40")));
  EXPECT_EQ(refusal_text(pay("INV-1", "60.01")), "amount must not be more than what is left, 60.00 EUR");
  EXPECT_EQ(find("INV-1").paid, item::Number(40));
  ASSERT_TRUE(succeeded(pay("INV-1", "60")));
  EXPECT_TRUE(find("INV-1").is_paid());
  EXPECT_EQ(find("INV-1").left().text(), "0.00 EUR");
  put(test_invoice("INV-2", yesterday));
  ASSERT_TRUE(succeeded(pay("INV-2")));
  EXPECT_EQ(find("INV-2").paid, item::Number(100)) << "all that is left";
}

TEST_F(InvoicesTest, ThePaymentOfOneReferenceCountsOnce) {
  put(test_invoice("INV-1", yesterday));
  ASSERT_TRUE(succeeded(pay("INV-1", "40", "bank-1")));
  const Invoice once = find("INV-1");
  store_.time().advance(1s);
  const auto again = pay("INV-1", "40.00", "bank-1");
  ASSERT_TRUE(succeeded(again));
  EXPECT_EQ(*again, once);
  EXPECT_EQ(find("INV-1"), once);
  EXPECT_EQ(refusal_kind(pay("INV-1", "41", "bank-1")), RefusalKind::wrong_state);
  EXPECT_EQ(find("INV-1"), once);
  ASSERT_TRUE(succeeded(pay("INV-1", "", "bank-2")));
  const Invoice settled = find("INV-1");
  EXPECT_EQ(settled.paid, item::Number(100));
  ASSERT_TRUE(succeeded(pay("INV-1", "", "bank-2"))) << "also when it is paid by now";
  EXPECT_EQ(find("INV-1"), settled);
  put(test_invoice("INV-2", yesterday));
  ASSERT_TRUE(succeeded(pay("INV-2", "", "bank-2"))) << "one transfer may pay several invoices";
  EXPECT_TRUE(find("INV-2").is_paid());
}

TEST_F(InvoicesTest, PaymentsThatBreakRulesChangeNothing) {
  put(test_invoice("INV-1", yesterday));
  for (const std::string amount : {"0", "0.00", "-1", "1,5", "1.005", "abc", "1e3"})
    EXPECT_EQ(refusal_kind(pay("INV-1", amount)), RefusalKind::invalid) << amount;
  EXPECT_EQ(find("INV-1").paid, item::Number());
  EXPECT_THAT(refusal_text(pay("INV-1", "9999999999999999.99")), HasSubstr("what is left"));
  Payment payment = test_payment("1");
  payment.currency = "USD";
  EXPECT_THAT(refusal_text(customers().pay("cust_001", "INV-2", payment, test_actor)), HasSubstr("no invoice INV-2"));
  put(test_invoice("INV-3", yesterday));
  EXPECT_THAT(refusal_text(customers().pay("cust_001", "INV-3", payment, test_actor)),
              HasSubstr("currency must be EUR"));
  payment = test_payment("1", std::string(129, 'x'));
  EXPECT_THAT(refusal_text(customers().pay("cust_001", "INV-3", payment, test_actor)), HasSubstr("reference"));
  payment = test_payment("1", "a\nb");
  EXPECT_THAT(refusal_text(customers().pay("cust_001", "INV-3", payment, test_actor)), HasSubstr("reference"));
  payment = test_payment("1");
  payment.paid_at = test_start + 24h + 1ms;
  EXPECT_THAT(refusal_text(customers().pay("cust_001", "INV-3", payment, test_actor)), HasSubstr("paid_at"));
  EXPECT_EQ(find("INV-3").paid, item::Number());
  EXPECT_EQ(refusal_kind(customers().pay("nobody", "INV-1", test_payment(), test_actor)),
            RefusalKind::unknown_customer);
}

TEST_F(InvoicesTest, KeepAHundredPayments) {
  put(test_invoice("INV-1", yesterday));
  for (std::size_t i = 0; i < most_payments; ++i) ASSERT_TRUE(succeeded(pay("INV-1", "0.01")));
  EXPECT_EQ(refusal_kind(pay("INV-1", "0.01")), RefusalKind::wrong_state);
  EXPECT_EQ(find("INV-1").left().text(), "99.00 EUR");
}

TEST_F(InvoicesTest, ThatArePaidDoNotChange) {
  put(test_invoice("INV-1", yesterday));
  ASSERT_TRUE(succeeded(pay("INV-1")));
  const auto same = customers().take_invoice(test_invoice("INV-1", yesterday), test_actor);
  ASSERT_TRUE(succeeded(same)) << "an old list says that it is not paid, and does not take the payment back";
  EXPECT_FALSE(same->changed);
  EXPECT_TRUE(find("INV-1").is_paid());
  EXPECT_EQ(refusal_kind(customers().put_invoice(test_invoice("INV-1", yesterday, "101"), test_actor)),
            RefusalKind::wrong_state);
  EXPECT_EQ(refusal_kind(customers().put_invoice(test_invoice("INV-1", today), test_actor)), RefusalKind::wrong_state);
}

TEST_F(InvoicesTest, WhatIsPaidOnlyGrows) {
  put(test_invoice("INV-1", yesterday));
  ASSERT_TRUE(succeeded(pay("INV-1", "40")));
  Invoice told = test_invoice("INV-1", yesterday);
  told.paid = item::Number(30);
  EXPECT_EQ(put(told).paid, item::Number(40));
  told.paid = item::Number(50);
  EXPECT_EQ(put(told).paid, item::Number(50));
  Invoice other = told;
  other.amount.currency = "USD";
  EXPECT_THAT(refusal_text(customers().put_invoice(other, test_actor)), HasSubstr("currency must stay EUR"));
  other = told;
  other.paid = item::Number::parse("100.01").value();
  EXPECT_EQ(refusal_text(customers().put_invoice(other, test_actor)),
            "paid must not be more than the amount, 100.00 EUR");
  EXPECT_EQ(find("INV-1").paid, item::Number(50));
  told.amount = Money::parse("45", "EUR").value();
  EXPECT_TRUE(put(told).is_paid()) << "the rest was remitted, and more: that is no payment";
  EXPECT_EQ(find("INV-1").paid, item::Number(50));
  EXPECT_FALSE(customers().take_invoice(find("INV-1"), test_actor)->changed) << "what is exported can be imported";
}

TEST_F(InvoicesTest, AreOverdueFromMidnightAfterTheirDay) {
  put(test_invoice("INV-1", today, "10.10"));
  put(test_invoice("INV-2", yesterday, "0.20"));
  put(test_invoice("INV-3", "2026-01-03", "7"));
  EXPECT_THAT(overdue(), ElementsAre("INV-2", "0.20 EUR"));
  set_time("2026-01-02T23:59:59.999Z");
  EXPECT_THAT(overdue(), ElementsAre("INV-2", "0.20 EUR"));
  set_time("2026-01-03T00:00:00Z");
  EXPECT_THAT(overdue(), ElementsAre("INV-2", "INV-1", "10.30 EUR"));
  Invoice dollars = test_invoice("INV-4", yesterday);
  dollars.amount.currency = "USD";
  put(dollars);
  EXPECT_THAT(overdue(), ElementsAre("INV-2", "INV-4", "INV-1", "10.30 EUR", "100.00 USD"));
}

TEST_F(InvoicesTest, LatePayersHavePaidThreeMoreThanSevenDaysLate) {
  const auto late_payers = [&] {
    const auto page = customers().late_payers({}, "");
    EXPECT_TRUE(succeeded(page));
    return page ? page->entries.size() : 0U;
  };
  for (int i = 1; i <= 4; ++i) put(test_invoice("INV-" + std::to_string(i), yesterday));
  set_time("2026-01-08T23:59:59.999Z");
  ASSERT_TRUE(succeeded(pay("INV-1")));
  EXPECT_EQ(customer().late_payments, 0) << "on the seventh day";
  set_time("2026-01-09T00:00:00Z");
  ASSERT_TRUE(succeeded(pay("INV-2")));
  EXPECT_EQ(customer().late_payments, 1);
  Payment in_time = test_payment();
  in_time.paid_at = base::parse_timestamp("2026-01-08T23:59:59Z").value();
  put(test_invoice("INV-5", yesterday));
  ASSERT_TRUE(succeeded(customers().pay("cust_001", "INV-5", in_time, test_actor)));
  EXPECT_EQ(customer().late_payments, 1) << "it was told late, and paid in time";
  ASSERT_TRUE(succeeded(pay("INV-3", "99.99")));
  EXPECT_EQ(customer().late_payments, 1) << "not all of it";
  ASSERT_TRUE(succeeded(pay("INV-3")));
  EXPECT_EQ(customer().late_payments, 2);
  EXPECT_EQ(late_payers(), 0U);
  Invoice imported = test_invoice("INV-6", "2025-01-01");
  imported.paid_at = base::parse_timestamp("2025-01-09T00:00:00Z").value();
  put(imported);
  EXPECT_EQ(customer().late_payments, 3);
  EXPECT_EQ(late_payers(), 1U);
  put(imported);
  EXPECT_EQ(customer().late_payments, 3) << "the same again changes nothing";
  ASSERT_TRUE(succeeded(customers().put(test_customer("cust_002"), test_actor)));
  EXPECT_EQ(late_payers(), 1U);
}

TEST_F(InvoicesTest, TheLastOverduePaymentWithdrawsDrafts) {
  put(test_invoice("INV-1", yesterday));
  put(test_invoice("INV-2", yesterday));
  put(test_invoice("INV-3", today));
  const std::string id = draft();
  item::Item approved = seed_draft("cust_001", test_start - 24h, "first");
  approved.set("status", "approved");
  store_.put(approved);
  ASSERT_TRUE(succeeded(pay("INV-1")));
  EXPECT_EQ(store_.draft_status("cust_001", id), "draft") << "another one is overdue";
  ASSERT_TRUE(succeeded(pay("INV-2", "99.99")));
  EXPECT_EQ(store_.draft_status("cust_001", id), "draft") << "a cent is left";
  ASSERT_TRUE(succeeded(pay("INV-2", "0.01")));
  EXPECT_EQ(store_.draft_status("cust_001", id), "withdrawn");
  EXPECT_EQ(store_.draft_status("cust_001", key_time(test_start - 24h) + "_cust_001"), "approved");
  const item::Item item = *store_.get("CUSTOMER#cust_001", "DRAFT#" + id);
  EXPECT_EQ(item::attribute_text(item, "GSI1PK"), "STATUS#withdrawn");
  EXPECT_EQ(item::attribute_text(item, "decided_by"), "ann");
  EXPECT_THAT(item::attribute_text(item, "reason"), HasSubstr("overdue"));
  EXPECT_EQ(*item.find("version"), item::AttributeValue(1));
}

TEST_F(InvoicesTest, APaymentWithdrawsDraftsThatNameNothingElse) {
  put(test_invoice("INV-1", yesterday));
  put(test_invoice("INV-2", yesterday));
  put(test_invoice("INV-3", yesterday));
  const auto naming = [&](const item::List& invoices, base::TimePoint at) {
    item::Item item = seed_draft("cust_001", at, "first");
    item.set("overdue_invoices", invoices);
    store_.put(std::move(item));
    return key_time(at) + "_cust_001";
  };
  const std::string one = naming({"INV-1"}, test_start);
  const std::string two = naming({"INV-1", "INV-2"}, test_start + 1s);
  const std::string strange = naming({"INV-1", "INV-9"}, test_start + 2s);
  const std::string none = naming({}, test_start + 3s);
  ASSERT_TRUE(succeeded(pay("INV-1", "1")));
  EXPECT_EQ(store_.draft_status("cust_001", one), "draft") << "a part is not all";
  ASSERT_TRUE(succeeded(pay("INV-1")));
  EXPECT_EQ(store_.draft_status("cust_001", one), "withdrawn");
  EXPECT_EQ(item::attribute_text(*store_.get("CUSTOMER#cust_001", "DRAFT#" + one), "reason"),
            "the invoices that it names are no longer overdue");
  EXPECT_EQ(store_.draft_status("cust_001", two), "draft") << "another one is overdue";
  put(test_invoice("INV-2", "2026-02-01"));
  EXPECT_EQ(store_.draft_status("cust_001", two), "withdrawn");
  EXPECT_EQ(store_.draft_status("cust_001", strange), "draft") << "what is not known may be owed";
  EXPECT_EQ(store_.draft_status("cust_001", none), "draft");
  ASSERT_TRUE(succeeded(pay("INV-3")));
  EXPECT_EQ(store_.draft_status("cust_001", strange), "withdrawn") << "nothing at all is overdue";
}

TEST_F(InvoicesTest, APaymentOfWhatIsNotOverdueWithdrawsNothing) {
  put(test_invoice("INV-1", today));
  const std::string id = draft();
  ASSERT_TRUE(succeeded(pay("INV-1")));
  EXPECT_EQ(store_.draft_status("cust_001", id), "draft");
}

TEST_F(InvoicesTest, ALaterDueDateWithdrawsDraftsToo) {
  put(test_invoice("INV-1", yesterday));
  const std::string id = draft();
  put(test_invoice("INV-1", yesterday, "90"));
  EXPECT_EQ(store_.draft_status("cust_001", id), "draft");
  put(test_invoice("INV-1", "2026-02-01", "90"));
  EXPECT_EQ(store_.draft_status("cust_001", id), "withdrawn");
  EXPECT_THAT(overdue(), IsEmpty());
}

TEST_F(InvoicesTest, MoreDraftsThanOneCommitHasAreAllWithdrawn) {
  put(test_invoice("INV-1", yesterday));
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < 2 * most_withdrawn_at_once + 1; ++i) ids.push_back(draft(test_start - i * 1s));
  ASSERT_TRUE(succeeded(pay("INV-1")));
  for (const std::string& id : ids) EXPECT_EQ(store_.draft_status("cust_001", id), "withdrawn") << id;
}

TEST_F(InvoicesTest, APaymentIsOnRecordWithoutPersonalData) {
  put(test_invoice("INV-1", yesterday));
  store_.time().advance(1s);
  ASSERT_TRUE(succeeded(pay("INV-1", "1")));
  store_.time().advance(1s);
  ASSERT_TRUE(succeeded(pay("INV-1")));
  EXPECT_THAT(store_.audited(),
              ElementsAre("customer.created", "invoice.created", "invoice.partly_paid", "invoice.paid"));
  EXPECT_FALSE(store_.has_anywhere(store_.records().tables().audit(), "Ada"));
}

TEST_F(InvoicesTest, APaymentWhoseAnswerIsLostCountsOnce) {
  put(test_invoice("INV-1", yesterday));
  FailingStore failing(store_.engine());
  ReminderStore records(failing, {}, Rules::usual(), store_.time(), store_.random(), store_.retry());
  Customers customers(records);
  for (const std::string reference : {"", "bank-1"}) {
    failing.fail_at(1, WriteFault::unknown);
    ASSERT_TRUE(succeeded(customers.pay("cust_001", "INV-1", test_payment("10", reference), test_actor)));
  }
  EXPECT_EQ(find("INV-1").paid, item::Number(20));
  failing.fail_at(1, WriteFault::ended_before);
  EXPECT_FALSE(customers.pay("cust_001", "INV-1", test_payment("10"), test_actor));
  EXPECT_EQ(find("INV-1").paid, item::Number(20));
}

TEST_F(InvoicesTest, ConcurrentPaymentsOfTheLastTwoWithdrawDrafts) {
  for (int round = 0; round < base::volume(20) + 2; ++round) {
    const std::string first = "A-" + std::to_string(round), second = "B-" + std::to_string(round);
    put(test_invoice(first, yesterday));
    put(test_invoice(second, yesterday));
    const std::string id = draft(test_start + round * 1s);
    base::run_threads(2, [&](int i) { EXPECT_TRUE(succeeded(pay(i == 0 ? first : second))); });
    EXPECT_EQ(store_.draft_status("cust_001", id), "withdrawn");
  }
}

TEST_F(InvoicesTest, ConcurrentPaymentsWithOneReferenceCountOnce) {
  put(test_invoice("INV-1", yesterday));
  base::run_threads(8, [&](int) { EXPECT_TRUE(succeeded(pay("INV-1", "10", "bank-1"))); });
  EXPECT_EQ(find("INV-1").paid, item::Number(10));
  base::run_threads(4, [&](int i) { EXPECT_TRUE(succeeded(pay("INV-1", "10", "bank-2" + std::to_string(i)))); });
  EXPECT_EQ(find("INV-1").paid, item::Number(50));
}

class ShardedInvoicesTest : public InvoicesTest, public ::testing::WithParamInterface<int> {
 protected:
  ShardedInvoicesTest() : InvoicesTest(GetParam()) {}

  std::vector<std::string> all_overdue(int limit) {
    std::vector<std::string> all;
    PageRequest page{.cursor = "", .limit = limit};
    do {
      const auto answer = customers().all_overdue(page, "");
      EXPECT_TRUE(succeeded(answer));
      if (!answer) break;
      EXPECT_LE(answer->entries.size(), static_cast<std::size_t>(limit));
      for (const Overdue& overdue : answer->entries)
        all.push_back(overdue.customer.id + " " + std::to_string(overdue.invoices.size()) + " " +
                      overdue.totals.front().text());
      page.cursor = answer->cursor;
    } while (!page.cursor.empty());
    return all;
  }
};

TEST_P(ShardedInvoicesTest, OverdueCustomersAreListedOnceTheLongestOverdueFirst) {
  for (const std::string id : {"a", "b", "c", "d"})
    ASSERT_TRUE(succeeded(customers().put(test_customer(id), test_actor)));
  put(test_invoice("1", "2025-12-01", "1", "c"));
  put(test_invoice("2", "2025-12-05", "2", "c"));
  put(test_invoice("1", "2025-12-03", "3", "a"));
  put(test_invoice("1", "2025-12-04", "4", "b"));
  put(test_invoice("2", "2025-12-31", "5", "b"));
  put(test_invoice("1", today, "6", "d"));
  const auto expected = ElementsAre("c 2 3.00 EUR", "a 1 3.00 EUR", "b 2 9.00 EUR");
  for (const int limit : {1, 2, 50}) EXPECT_THAT(all_overdue(limit), expected) << limit;
  ASSERT_TRUE(succeeded(customers().pay("c", "1", test_payment(), test_actor)));
  EXPECT_THAT(all_overdue(1), ElementsAre("a 1 3.00 EUR", "b 2 9.00 EUR", "c 1 2.00 EUR"));
  set_time("2026-01-03T00:00:00Z");
  EXPECT_THAT(all_overdue(50), SizeIs(4));
  EXPECT_THAT(customers().all_overdue({}, "acme")->entries, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Shards, ShardedInvoicesTest, ::testing::Values(1, 4));

TEST_F(InvoicesTest, AreListedInPages) {
  for (const std::string id : {"3", "1", "2"}) put(test_invoice(id, today));
  ASSERT_TRUE(succeeded(pay("2")));
  const auto first = customers().invoices("cust_001", {.cursor = "", .limit = 2}, "");
  ASSERT_TRUE(succeeded(first));
  ASSERT_THAT(first->entries, SizeIs(2));
  EXPECT_EQ(first->entries[1].id, "2");
  const auto rest = customers().invoices("cust_001", {.cursor = first->cursor, .limit = 2}, "");
  ASSERT_TRUE(succeeded(rest));
  ASSERT_THAT(rest->entries, SizeIs(1));
  EXPECT_EQ(rest->cursor, "");
  const auto all = customers().all_invoices({}, "");
  ASSERT_TRUE(succeeded(all));
  EXPECT_THAT(all->entries, SizeIs(3));
}

TEST_F(InvoicesTest, ThatCannotBeReadHideNoOthers) {
  for (const std::string id : {"1", "2", "3"}) put(test_invoice(id, yesterday));
  item::Item broken = *store_.get("CUSTOMER#cust_001", "INVOICE#2");
  broken.set("amount", "much");
  store_.put(broken);
  for (const auto& page : {customers().invoices("cust_001", {}, ""), customers().all_invoices({}, "")}) {
    ASSERT_TRUE(succeeded(page));
    ASSERT_THAT(page->entries, SizeIs(2));
    EXPECT_EQ(page->entries[1].id, "3");
    EXPECT_EQ(page->unreadable, 1);
  }
  item::Item copy = *store_.get("CUSTOMER#cust_001", std::string("UNPAID#") + yesterday + "#2");
  copy.set("amount", "much");
  store_.put(copy);
  const auto overdue = customers().all_overdue({}, "");
  ASSERT_TRUE(succeeded(overdue));
  EXPECT_EQ(overdue->unreadable, 1) << "the customer";
}

TEST_F(InvoicesTest, ThatCannotBeReadAreTold) {
  put(test_invoice("INV-1", yesterday));
  item::Item item = *store_.get("CUSTOMER#cust_001", "INVOICE#INV-1");
  for (const auto& [name, value] : std::vector<std::pair<std::string, item::AttributeValue>>{
           {"amount", "much"}, {"amount", -1}, {"due_date", "soon"}, {"payments", item::List{1}}, {"version", 0}}) {
    item::Item broken = item;
    broken.set(name, value);
    store_.put(broken);
    EXPECT_EQ(refusal_kind(customers().find_invoice("cust_001", "INV-1", "")), RefusalKind::corrupt) << name;
    EXPECT_EQ(refusal_kind(pay("INV-1")), RefusalKind::corrupt) << name;
  }
}

}  // namespace
}  // namespace postino::reminders

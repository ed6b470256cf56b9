// Customers: made, changed, stopped and listed.
#include "base/many_threads_testing.h"
#include "customers_environment.h"
#include "failing_store.h"
#include "reminders/audit.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CustomersTest : public ::testing::Test {
 protected:
  Customer put(const Customer& customer, const Actor& actor = test_actor) {
    const auto answer = customers().put(customer, actor);
    EXPECT_TRUE(succeeded(answer));
    return answer ? *answer : Customer();
  }
  Customer find(const std::string& id = "cust_001", const std::string& tenant = "") {
    const auto answer = customers().find(id, tenant);
    EXPECT_TRUE(succeeded(answer));
    return answer ? *answer : Customer();
  }
  std::vector<std::string> ids(const OrRefusal<Page<Customer>>& page) {
    EXPECT_TRUE(succeeded(page));
    std::vector<std::string> all;
    if (page)
      for (const Customer& customer : page->entries) all.push_back(customer.id);
    return all;
  }
  Customers& customers() { return store_.customers(); }

  CustomersEnvironment store_;
};

TEST_F(CustomersTest, AreKnownByDraftsOfOtherProgramsToo) {
  EXPECT_EQ(refusal_kind(store_.customers().check_known("cust_009", "")), RefusalKind::unknown_customer);
  store_.put(seed_draft("cust_009", test_start, "first"));
  EXPECT_TRUE(succeeded(store_.customers().check_known("cust_009", "")));
}

TEST_F(CustomersTest, AreMadeOnce) {
  const auto first = customers().take(test_customer(), test_actor);
  ASSERT_TRUE(succeeded(first));
  EXPECT_TRUE(first->changed);
  EXPECT_EQ(first->record.version, 1);
  EXPECT_EQ(first->record.created_at, test_start);
  EXPECT_EQ(find(), first->record);
  store_.time().advance(1s);
  const auto again = customers().take(test_customer(), test_actor);
  ASSERT_TRUE(succeeded(again));
  EXPECT_FALSE(again->changed);
  EXPECT_EQ(again->record, first->record);
  EXPECT_THAT(store_.audited(), ElementsAre("customer.created")) << "what changes nothing is no event";
}

TEST_F(CustomersTest, KeepWhatTheyDecidedWhenNameAndAddressChange) {
  put(test_customer());
  ASSERT_TRUE(succeeded(customers().opt_out("cust_001", "by phone", test_actor)));
  ASSERT_TRUE(succeeded(customers().complain("cust_001", "angry", test_actor)));
  ASSERT_TRUE(succeeded(customers().hard_bounce("cust_001", "550 unknown", test_actor)));
  Customer changed = test_customer();
  changed.name = "Ada King";
  EXPECT_EQ(put(changed).hard_bounces, 1);
  changed.email = "ADA@example.org";
  EXPECT_EQ(put(changed).hard_bounces, 1) << "the same address";
  const std::int64_t guard = store_.guard_version();
  changed.email = "ada@example.net";
  put(changed);
  EXPECT_EQ(store_.guard_version(), guard + 1) << "no approval overlooks it";
  const Customer stored = find();
  EXPECT_EQ(stored.name, "Ada King");
  EXPECT_EQ(stored.email, "ada@example.net");
  EXPECT_TRUE(stored.opted_out);
  EXPECT_EQ(stored.opted_out_reason, "by phone");
  EXPECT_EQ(stored.complaints, 1);
  EXPECT_EQ(stored.hard_bounces, 0) << "they were those of the other address";
  EXPECT_EQ(stored.last_bounce, "");
}

TEST_F(CustomersTest, ThatBreakRulesAreRefusedWithAllFields) {
  Customer customer = test_customer("a#b");
  customer.name = "Ada\r\nBcc: all@example.org";
  customer.email = "Ada <ada@example.org>";
  const auto answer = customers().put(customer, test_actor);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, RefusalKind::invalid);
  std::vector<std::string> fields;
  for (const FieldFault& fault : answer.error().faults) fields.push_back(fault.field);
  EXPECT_THAT(fields, ElementsAre("customer_id", "customer_name", "customer_email"));
  EXPECT_THAT(store_.scan(store_.records().tables().tracking), IsEmpty());
  EXPECT_THAT(store_.audited(), IsEmpty());
}

TEST_F(CustomersTest, ThatAreUnknownAreToldSo) {
  for (const std::string id : {"nobody", "", "a b", "a/b"}) {
    EXPECT_EQ(refusal_kind(customers().find(id, "")), RefusalKind::unknown_customer) << id;
    EXPECT_EQ(refusal_kind(customers().opt_out(id, "", test_actor)), RefusalKind::unknown_customer) << id;
    EXPECT_EQ(refusal_kind(customers().overdue(id, "")), RefusalKind::unknown_customer) << id;
    EXPECT_EQ(refusal_kind(customers().invoices(id, {}, "")), RefusalKind::unknown_customer) << id;
  }
}

TEST_F(CustomersTest, StopAndGoOn) {
  put(test_customer());
  EXPECT_EQ(why_stopped(find()), "");
  const std::int64_t guard = store_.guard_version();
  store_.time().advance(1s);
  ASSERT_TRUE(succeeded(customers().opt_out("cust_001", "enough\r\n", test_actor)));
  EXPECT_EQ(find().opted_out_at, test_start + 1s);
  EXPECT_THAT(find().opted_out_reason, Not(HasSubstr("\n")));
  EXPECT_EQ(store_.guard_version(), guard + 1);
  ASSERT_TRUE(succeeded(customers().opt_out("cust_001", "again", test_actor)));
  EXPECT_EQ(store_.guard_version(), guard + 1) << "nothing new";
  store_.time().advance(1s);
  ASSERT_TRUE(succeeded(customers().opt_in("cust_001", test_actor)));
  EXPECT_EQ(why_stopped(find()), "");
  EXPECT_EQ(find().opted_out_at, std::nullopt);
  store_.time().advance(1s);
  ASSERT_TRUE(succeeded(customers().complain("cust_001", "spam!", test_actor)));
  EXPECT_THAT(why_stopped(find()), HasSubstr("complained"));
  store_.time().advance(1s);
  ASSERT_TRUE(succeeded(customers().hard_bounce("cust_001", std::string(2'000, 'x'), test_actor)));
  EXPECT_EQ(find().last_bounce.size(), longest_reason);
  EXPECT_EQ(store_.guard_version(), guard + 4);
  store_.time().advance(1s);
  ASSERT_TRUE(succeeded(customers().opt_in("cust_001", test_actor)));
  EXPECT_EQ(why_stopped(find()), "");
  EXPECT_EQ(find().complaints + find().hard_bounces, 0);
  EXPECT_THAT(store_.audited(), ElementsAre("customer.created", "customer.opted_out", "customer.opted_in",
                                            "customer.complained", "customer.bounced", "customer.opted_in"));
  for (const std::string text : {"Ada", "ada@", "enough", "spam!"})
    EXPECT_FALSE(store_.has_anywhere(store_.records().tables().audit(), text)) << text;
}

TEST_F(CustomersTest, ABounceOfAnOlderAddressStopsNothing) {
  put(test_customer());
  const auto answer = customers().hard_bounce("cust_001", "550", test_actor, "former@example.org");
  ASSERT_TRUE(succeeded(answer));
  EXPECT_EQ(why_stopped(find()), "");
  ASSERT_TRUE(succeeded(customers().hard_bounce("cust_001", "550", test_actor, "Ada@Example.org")));
  EXPECT_THAT(why_stopped(find()), HasSubstr("bounce"));
}

TEST_F(CustomersTest, AreListedByIdInPages) {
  for (const std::string id : {"c", "a", "e", "b", "d"}) put(test_customer(id));
  const auto first = customers().list({.cursor = "", .limit = 2}, "");
  EXPECT_THAT(ids(first), ElementsAre("a", "b"));
  const auto second = customers().list({.cursor = first->cursor, .limit = 2}, "");
  EXPECT_THAT(ids(second), ElementsAre("c", "d"));
  const auto third = customers().list({.cursor = second->cursor, .limit = 2}, "");
  EXPECT_THAT(ids(third), ElementsAre("e"));
  EXPECT_EQ(third->cursor, "");
  EXPECT_EQ(refusal_kind(customers().late_payers({.cursor = first->cursor, .limit = 2}, "")), RefusalKind::invalid);
  EXPECT_EQ(refusal_kind(customers().list({.cursor = "", .limit = 0}, "")), RefusalKind::invalid);
  EXPECT_EQ(refusal_kind(customers().list({.cursor = "", .limit = 201}, "")), RefusalKind::invalid);
}

TEST_F(CustomersTest, OfTenantsAreApart) {
  Actor other = test_actor;
  other.tenant = "acme";
  put(test_customer());
  Customer theirs = test_customer();
  theirs.name = "Grace";
  put(theirs, other);
  EXPECT_EQ(find().name, "Ada Lovelace");
  EXPECT_EQ(find("cust_001", "acme").name, "Grace");
  EXPECT_THAT(ids(customers().list({}, "acme")), ElementsAre("cust_001"));
  EXPECT_EQ(refusal_kind(customers().find("cust_001", "acm")), RefusalKind::unknown_customer);
  EXPECT_THAT(ids(customers().list({}, "nobody")), IsEmpty());
}

TEST_F(CustomersTest, KeepWhatApprovalsCountAtTheSameMoment) {
  put(test_customer());
  store::UpdateItemRequest count;
  count.table_name = store_.records().tables().tracking;
  count.key = Keys::key("CUSTOMER#cust_001", "PROFILE");
  count.update = "ADD reminders_sent :one";
  count.placeholders.values = item::Map{{":one", 1}};
  FailingStore watched(store_.engine());
  ReminderStore records(watched, {}, Rules::usual(), store_.time(), store_.random(), store_.retry());
  for (int i = 1; i <= 2; ++i) {
    watched.meet_at_write(1, [&] { EXPECT_TRUE(store_.engine().update_item(count)); });
    Customer changed = test_customer();
    changed.name = "Ada " + std::to_string(i);
    ASSERT_TRUE(succeeded(Customers(records).put(changed, test_actor)));
    EXPECT_EQ(find().name, changed.name);
    EXPECT_EQ(find().reminders_sent, i);
  }
}

TEST_F(CustomersTest, ThatCannotBeReadAreToldAndHideNoOthers) {
  put(test_customer());
  put(test_customer("cust_002"));
  for (const std::string id : {"cust_001", "cust_002"})
    ASSERT_TRUE(succeeded(customers().put_invoice(test_invoice("INV-1", "2025-12-01", "9", id), test_actor)));
  item::Item item = *store_.get("CUSTOMER#cust_001", "PROFILE");
  item.set("complaints", "many");
  store_.put(item);
  EXPECT_EQ(refusal_kind(customers().find("cust_001", "")), RefusalKind::corrupt);
  const auto listed = customers().list({}, "");
  ASSERT_TRUE(succeeded(listed));
  ASSERT_EQ(listed->entries.size(), 1U);
  EXPECT_EQ(listed->entries[0].id, "cust_002");
  const auto overdue = customers().all_overdue({}, "");
  ASSERT_TRUE(succeeded(overdue));
  ASSERT_EQ(overdue->entries.size(), 1U);
  EXPECT_EQ(overdue->entries[0].customer.id, "cust_002");
  item.set("complaints", 1);
  item.erase("version");
  store_.put(item);
  EXPECT_THAT(refusal_text(customers().find("cust_001", "")), HasSubstr("version"));
}

// Whatever another program has made of the record.
TEST_F(CustomersTest, ThatCannotBeReadCanOptOutComplainPayAndBePut) {
  put(test_customer());
  const std::vector<std::pair<std::string, item::AttributeValue>> faults = {
      {"version", *item::Number::parse("9223372036854775807")},
      {"version", *item::Number::parse("1e30")},
      {"version", item::List{}},
      {"reminders_sent", "many"},
      {"customer_id", "cust_002"},
      {"customer_email", 5},
      {"created_at_ms", -1}};
  for (const auto& [name, value] : faults) {
    SCOPED_TRACE(name);
    const item::Item good = *store_.get("CUSTOMER#cust_001", "PROFILE");
    const auto spoil = [&] {
      item::Item broken = good;
      broken.set(name, value);
      broken.set("of_others", "stays");
      store_.put(broken);
      EXPECT_EQ(refusal_kind(customers().find("cust_001", "")), RefusalKind::corrupt);
    };
    spoil();
    const auto out = customers().opt_out("cust_001", "asked", test_actor);
    ASSERT_TRUE(succeeded(out));
    EXPECT_TRUE(find().opted_out);
    EXPECT_EQ(find().name, "Ada Lovelace");
    EXPECT_TRUE(store_.get("CUSTOMER#cust_001", "PROFILE")->contains("of_others"));
    EXPECT_FALSE(store_.get("CUSTOMER#cust_002", "PROFILE"));
    spoil();
    ASSERT_TRUE(succeeded(customers().complain("cust_001", "angry", test_actor)));
    EXPECT_EQ(find().complaints, 1);
    spoil();
    ASSERT_TRUE(succeeded(customers().put(test_customer(), test_actor)));
    EXPECT_EQ(find().email, "ada@example.org");
    spoil();
    ASSERT_TRUE(succeeded(customers().put_invoice(test_invoice("INV-" + name, "2025-12-01"), test_actor)));
    spoil();
    ASSERT_TRUE(succeeded(customers().pay("cust_001", "INV-" + name, {}, test_actor)));
    EXPECT_EQ(find().late_payments, 1);
    store_.remove("CUSTOMER#cust_001", "INVOICE#INV-" + name);
    ASSERT_TRUE(succeeded(customers().opt_in("cust_001", test_actor)));
    store_.put(good);
  }
  EXPECT_EQ(std::ranges::count(store_.audited(), "customer.record_made_anew"), std::ssize(faults) * 5);
}

TEST_F(CustomersTest, WhatCannotBeReadAndMayHaveStoppedRemindersStopsThem) {
  for (const std::string name : {"opt_out", "complaints", "hard_bounces"}) {
    put(test_customer());
    item::Item broken = *store_.get("CUSTOMER#cust_001", "PROFILE");
    broken.set(name, "yes");
    store_.put(broken);
    put(test_customer());
    EXPECT_NE(why_stopped(find()), "") << name;
    ASSERT_TRUE(succeeded(customers().opt_in("cust_001", test_actor)));
    EXPECT_EQ(why_stopped(find()), "") << name;
  }
}

// Another program has put a record of its own in the place of ours.
TEST_F(CustomersTest, WhoseRecordWasOverwrittenGetNoRemindersUntilTheyOptIn) {
  item::Item nothing = Keys::key("CUSTOMER#cust_001", "PROFILE");
  nothing.set("x", 1);
  item::Item address = Keys::key("CUSTOMER#cust_001", "PROFILE");
  address.set("customer_id", "cust_001");
  address.set("customer_name", "Ada");
  address.set("customer_email", "ada@example.org");
  item::Item decided = address;
  decided.set("opt_out", false);
  for (const item::Item& overwritten : {nothing, address, decided}) {
    for (const bool complains : {false, true}) {
      put(test_customer());
      const auto stopped = complains ? customers().complain("cust_001", "angry", test_actor)
                                     : customers().opt_out("cust_001", "asked", test_actor);
      ASSERT_TRUE(succeeded(stopped));
      store_.put(overwritten);
      put(test_customer());
      EXPECT_NE(why_stopped(find()), "");
      EXPECT_NE(find().opted_out_reason, "");
      EXPECT_NE(find().opted_out_at, std::nullopt);
      ASSERT_TRUE(succeeded(customers().opt_in("cust_001", test_actor)));
      EXPECT_EQ(why_stopped(find()), "");
    }
  }
}

// Whatever another program has made of the record.
TEST_F(CustomersTest, WhatTheySaidAgainstRemindersOutlivesTheirRecord) {
  for (const bool complains : {false, true}) {
    put(test_customer());
    item::Item restored = *store_.get("CUSTOMER#cust_001", "PROFILE");
    const auto stopped = complains ? customers().complain("cust_001", "angry", test_actor)
                                   : customers().opt_out("cust_001", "asked", test_actor);
    ASSERT_TRUE(succeeded(stopped));
    store_.remove("CUSTOMER#cust_001", "PROFILE");
    put(test_customer());
    EXPECT_EQ(why_stopped(find()), why_stopped(*stopped)) << "one that was made again";
    EXPECT_EQ(find().opted_out_at, stopped->opted_out_at);

    item::Item lacking = restored;
    for (const char* const name : {"opt_out", "updated_at_ms"}) lacking.erase(name);
    for (const item::Item& overwritten : {restored, lacking}) {
      store_.put(overwritten);
      EXPECT_EQ(why_stopped(find()), why_stopped(*stopped));
      const auto listed = customers().list({}, "");
      ASSERT_TRUE(succeeded(listed));
      EXPECT_EQ(why_stopped(listed->entries.at(0)), why_stopped(*stopped));
      put(test_customer());
      EXPECT_EQ(store_.get("CUSTOMER#cust_001", "PROFILE")->find("opt_out")->as<bool>(), !complains);
      EXPECT_EQ(find().complaints, complains ? 1 : 0);
      EXPECT_EQ(find().opted_out_at, stopped->opted_out_at);
    }
    ASSERT_TRUE(succeeded(customers().opt_in("cust_001", test_actor)));
    store_.put(restored);
    EXPECT_EQ(why_stopped(find()), "") << "until they take it back";
    store_.remove("CUSTOMER#cust_001", "PROFILE");
    put(test_customer());
    EXPECT_EQ(why_stopped(find()), "");
  }
  EXPECT_EQ(std::ranges::count(store_.audited(), "customer.record_made_anew"), 4);
}

TEST_F(CustomersTest, AnImportOptsNoneInWhoseRecordWasRemoved) {
  put(test_customer());
  ASSERT_TRUE(succeeded(customers().opt_out("cust_001", "by phone", test_actor)));
  store_.remove("CUSTOMER#cust_001", "PROFILE");
  EXPECT_EQ(refusal_kind(customers().take(test_customer(), test_actor, true)), RefusalKind::invalid);
  EXPECT_EQ(store_.get("CUSTOMER#cust_001", "PROFILE"), std::nullopt);
  ASSERT_TRUE(succeeded(customers().take(test_customer(), test_actor)));
  EXPECT_TRUE(find().opted_out);
}

TEST_F(CustomersTest, WhatIsImportedAsOptedOutOutlivesItsRecordToo) {
  Customer objecting = test_customer();
  objecting.opted_out = true;
  put(objecting);
  put(test_customer("cust_002"));
  objecting.id = "cust_002";
  put(objecting);
  for (const std::string id : {"cust_001", "cust_002"}) {
    store_.remove("CUSTOMER#" + id, "PROFILE");
    put(test_customer(id));
    EXPECT_TRUE(find(id).opted_out) << id;
  }
}

TEST_F(CustomersTest, KnownOnlyByRecordsOfAnotherProgramCanBeStopped) {
  store_.put(seed_draft("drafted", test_start, "first"));
  const auto out = customers().opt_out("drafted", "asked", test_actor);
  ASSERT_TRUE(succeeded(out));
  EXPECT_TRUE(out->opted_out);
  EXPECT_EQ(out->opted_out_reason, "asked");
  EXPECT_EQ(out->name, "John Doe");
  EXPECT_EQ(out->email, "john@example.com");
  store_.put(seed_sent("reminded", test_start, "first"));
  const auto complained = customers().complain("reminded", "angry", test_actor);
  ASSERT_TRUE(succeeded(complained));
  EXPECT_EQ(complained->complaints, 1);
  EXPECT_NE(why_stopped(customers().find("reminded", "").value()), "");
  store_.put(seed_draft("another", test_start, "first"));
  EXPECT_EQ(refusal_kind(customers().opt_in("another", test_actor)), RefusalKind::unknown_customer);
}

TEST_F(CustomersTest, ConcurrentChangesAreAllCounted) {
  put(test_customer());
  std::atomic<int> counted = 0;
  base::run_threads(6, [&](int) {
    for (int i = 0; i < 5; ++i)
      if (customers().complain("cust_001", "x", test_actor)) ++counted;
  });
  EXPECT_GT(counted, 0);
  EXPECT_EQ(find().complaints, counted) << "a refused one has changed nothing";
}

TEST_F(CustomersTest, ConcurrentlyMadeIsOne) {
  std::atomic<int> made = 0;
  base::run_threads(8, [&](int) {
    const auto taken = customers().take(test_customer(), test_actor);
    EXPECT_TRUE(succeeded(taken));
    if (taken && taken->changed) ++made;
  });
  EXPECT_EQ(made, 1);
  EXPECT_EQ(find().version, 1);
}

TEST_F(CustomersTest, EventsOfOneMillisecondAreInTheOrderInWhichTheyHappened) {
  std::vector<std::string> subjects;
  for (int i = 0; i < 30; ++i) {
    const std::string id = "c" + std::to_string(i);
    ASSERT_TRUE(succeeded(customers().put(test_customer(id), test_actor)));
    subjects.insert(subjects.begin(), "customers/" + id);
  }
  const auto events = Audit(store_.records()).list({}, "");
  ASSERT_TRUE(succeeded(events));
  std::vector<std::string> told;
  for (const AuditEvent& event : events->entries) told.push_back(event.subject);
  EXPECT_EQ(told, subjects) << "newest first";
}

}  // namespace
}  // namespace postino::reminders

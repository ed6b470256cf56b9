// What the guard of a customer knows: its own item, and what other programs have sent.
#include "item/attribute_text.h"
#include "reminder_office.h"
#include "reminders/drafts.h"
#include "reminders/erasure.h"
#include "reminders/record/guard_item.h"
#include "reminders/record/sent_item.h"
#include "reminders_store.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class GuardOfCustomer : public ::testing::Test {
 protected:
  Guard guard() {
    const auto answer = store_.records().guard(Keys(""), "cust_001");
    EXPECT_TRUE(succeeded(answer));
    return answer ? *answer : Guard();
  }
  void write(const Guard& seen, const Guard& next) {
    Commit commit = store_.records().begin();
    commit.move_guard(Keys(""), "cust_001", seen, next);
    EXPECT_TRUE(succeeded(store_.records().write(std::move(commit))));
  }

  RemindersStore store_;
};

LastSent last(const std::string& type, base::TimePoint at) { return {type, at, key_time(at) + "_" + type}; }

TEST_F(GuardOfCustomer, OfNobodyIsEmpty) {
  EXPECT_THAT(guard().last, IsEmpty());
  EXPECT_EQ(guard().version, 0);
}

TEST_F(GuardOfCustomer, KnowsWhatOtherProgramsHaveSent) {
  store_.put(seed_sent("cust_001", test_start - 20 * 24h, "first"));
  store_.put(seed_sent("cust_001", test_start - 10 * 24h, "first"));
  store_.put(seed_sent("cust_001", test_start - 2 * 24h, "second"));
  store_.put(seed_sent("cust_0011", test_start - 24h, "final"));
  const Guard found = guard();
  EXPECT_THAT(found.last,
              UnorderedElementsAre(last("first", test_start - 10 * 24h), last("second", test_start - 2 * 24h)));
  EXPECT_EQ(found.version, 0);
}

TEST_F(GuardOfCustomer, FindsTheirLaterOnesWithoutReadingTheRest) {
  store_.put(seed_sent("cust_001", test_start - 20 * 24h, "first"));
  write(Guard(), guard());
  // Older than a day before the last one that the guard has seen: it is not looked for.
  store_.put(seed_sent("cust_001", test_start - 25 * 24h, "second"));
  EXPECT_THAT(guard().last, ElementsAre(last("first", test_start - 20 * 24h)));
  store_.put(seed_sent("cust_001", test_start - 1h, "first"));
  EXPECT_THAT(guard().last, ElementsAre(last("first", test_start - 1h)));
  EXPECT_EQ(guard().version, 1);
}

TEST_F(GuardOfCustomer, AKeyOfTheFutureHidesNothing) {
  store_.put(seed_sent("cust_001", test_start + 1000 * 24h, "final"));
  write(Guard(), guard());
  store_.put(seed_sent("cust_001", test_start + 1h, "first"));
  EXPECT_THAT(guard().last,
              UnorderedElementsAre(last("final", test_start + 1000 * 24h), last("first", test_start + 1h)));
}

TEST_F(GuardOfCustomer, LeavesOutWhatFailed) {
  item::Item failed = seed_sent("cust_001", test_start - 1h, "first");
  failed.set("status", "failed");
  failed.set("delivery_status", "failed");
  store_.put(seed_sent("cust_001", test_start - 30 * 24h, "first"));
  store_.put(seed_sent("cust_001", test_start - 1h, "first"));
  write(Guard(), guard());
  EXPECT_THAT(guard().last, ElementsAre(last("first", test_start - 1h)));
  store_.put(failed);
  EXPECT_THAT(guard().last, ElementsAre(last("first", test_start - 30 * 24h)));
}

TEST_F(GuardOfCustomer, IsRememberedAfterALongHistory) {
  for (int i = 0; i < 150; ++i) store_.put(seed_sent("cust_001", test_start - (i + 3) * 24h, "first"));
  EXPECT_EQ(guard().version, 1);
  EXPECT_EQ(guard().version, 1) << "once";
  EXPECT_THAT(guard().last, ElementsAre(last("first", test_start - 3 * 24h)));
}

TEST_F(GuardOfCustomer, OfAnotherVersionIsNotOverwritten) {
  const Guard none = guard();
  write(none, none);
  Commit late = store_.records().begin();
  const std::size_t place = late.move_guard(Keys(""), "cust_001", none, none);
  std::vector<std::size_t> failed;
  const auto answer = store_.records().write(std::move(late), &failed);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, RefusalKind::busy);
  EXPECT_THAT(failed, ElementsAre(place));
}

TEST_F(GuardOfCustomer, ThatCannotBeReadIsNotPassedOver) {
  store_.put({{"PK", "CUSTOMER#cust_001"}, {"SK", "GUARD"}, {"version", "one"}});
  const auto answer = store_.records().guard(Keys(""), "cust_001");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, RefusalKind::corrupt);
  EXPECT_EQ(answer.error().message, "the record CUSTOMER#cust_001/GUARD cannot be read: version must be a number");
}

TEST_F(GuardOfCustomer, OfTenantsAreApart) {
  store_.put(seed_sent("cust_001", test_start - 1h, "first"));
  const auto answer = store_.records().guard(Keys("acme"), "cust_001");
  ASSERT_TRUE(succeeded(answer));
  EXPECT_THAT(answer->last, IsEmpty());
}

TEST_F(GuardOfCustomer, KnowsWhatOthersWroteLate) {
  store_.put(seed_sent("cust_001", test_start - 8 * 24h, "first"));
  store_.put(seed_sent("cust_001", test_start - 1h, "second"));
  write(Guard(), guard());
  store_.put(seed_sent("cust_001", test_start - 6 * 24h, "first"));
  EXPECT_THAT(guard().last, UnorderedElementsAre(last("first", test_start - 6 * 24h), last("second", test_start - 1h)));
}

TEST_F(GuardOfCustomer, RestsOnNothingThatNoLongerCountsHoweverOld) {
  item::Item old = seed_sent("cust_001", test_start - 100 * 24h, "first");
  store_.put(seed_sent("cust_001", test_start - 120 * 24h, "first"));
  store_.put(old);
  store_.put(seed_sent("cust_001", test_start - 1h, "second"));
  write(Guard(), guard());
  old.set("delivery_status", "failed");
  store_.put(old);
  EXPECT_THAT(guard().last,
              UnorderedElementsAre(last("first", test_start - 120 * 24h), last("second", test_start - 1h)));
}

TEST_F(GuardOfCustomer, RestsOnNothingThatIsGoneUnlessItHasExpired) {
  store_.put(seed_sent("cust_001", test_start - 1h, "second"));
  Guard known = guard();
  known.last.push_back(last("first", test_start - 10 * 24h));
  known.last.push_back(last("final", test_start - sent_life));
  write(Guard(), known);
  EXPECT_THAT(guard().last,
              UnorderedElementsAre(last("second", test_start - 1h), last("final", test_start - sent_life)));
}

TEST_F(GuardOfCustomer, SaysWhichRecordItCouldNotRead) {
  item::Item odd = seed_sent("cust_001", test_start - 1h, "first");
  odd.set("reminder_type", 5);
  store_.put(odd);
  EXPECT_EQ(guard().unreadable,
            "the record CUSTOMER#cust_001/SENT#20260102_020405_first cannot be read: reminder_type must be a string");
}

// As another program may have damaged it.
class UnreadableGuard : public ::testing::Test {
 protected:
  UnreadableGuard() {
    Customer customer;
    customer.id = "cust_001";
    customer.name = "John Doe";
    customer.email = "john@example.com";
    EXPECT_TRUE(succeeded(office_.customers.put(customer, actor_)));
    Invoice invoice;
    invoice.customer_id = "cust_001";
    invoice.id = "INV-001";
    invoice.amount = Money::parse("1500.00", "USD").value();
    invoice.due_date = "2025-12-01";
    EXPECT_TRUE(succeeded(office_.customers.put_invoice(invoice, actor_)));
    EXPECT_TRUE(succeeded(office_.approve(put_draft(store_, "cust_001", "first"))));
    spoil();
  }
  void spoil() { store_.put({{"PK", "CUSTOMER#cust_001"}, {"SK", "GUARD"}, {"last", "yesterday"}, {"version", -3}}); }
  std::size_t times_made_anew() {
    std::size_t times = 0;
    for (const item::Item& event : store_.scan("EmailTrackingTable-audit"))
      if (item::attribute_text(event, "action") == "customer.guard_made_anew") ++times;
    return times;
  }
  Guard guard() {
    const auto answer = store_.records().guard(Keys(""), "cust_001");
    EXPECT_TRUE(succeeded(answer));
    return answer ? *answer : Guard();
  }

  const Actor actor_{.tenant = "", .name = "ann", .key = {}, .from = {}};
  RemindersStore store_;
  ReminderOffice office_{store_};
};

TEST_F(UnreadableGuard, IsTheReasonWhyNothingIsApproved) {
  const std::string id = put_draft(store_, "cust_001", "first");
  const auto refused = office_.approve(id);
  EXPECT_EQ(outcome_of(refused), "corrupt");
  EXPECT_EQ(
      refusal_text(refused),
      "the record CUSTOMER#cust_001/GUARD cannot be read: last must be a map; it is made again when the customer is "
      "changed, or put once more");
  EXPECT_EQ(times_made_anew(), 0U);
  // Those who put it once more change nothing else, and then the rules decide on what was sent.
  ASSERT_TRUE(succeeded(office_.customers.put(office_.customers.find("cust_001", "").value(), actor_)));
  EXPECT_EQ(times_made_anew(), 1U);
  EXPECT_EQ(outcome_of(office_.approve(id)), "too_soon");
}

TEST_F(UnreadableGuard, IsToldByADryRunAndKeepsNobodyFromDrafting) {
  Templates templates(store_.records());
  Drafts drafts(store_.records(), office_.customers, templates, office_.mail);
  const auto explained = drafts.explain("cust_001", "second", "");
  ASSERT_TRUE(succeeded(explained));
  EXPECT_FALSE(explained->decision.is_allowed());
  EXPECT_THAT(explained->stopped, ::testing::HasSubstr("GUARD cannot be read"));
  EXPECT_EQ(times_made_anew(), 0U) << "a dry run writes nothing";
  NewDraft draft;
  draft.customer_id = "cust_001";
  draft.reminder_type = "second";
  draft.text = DraftText{"Please pay", "Dear customer", ""};
  ASSERT_TRUE(succeeded(drafts.make(draft, actor_)));
  EXPECT_EQ(times_made_anew(), 1U);
  // A version that would overflow.
  item::Item item = *store_.get("CUSTOMER#cust_001", "GUARD");
  item.set("version", *item::Number::parse("9223372036854775807"));
  store_.put(item);
  ASSERT_TRUE(succeeded(drafts.make(draft, actor_)));
  EXPECT_EQ(times_made_anew(), 2U);
}

TEST_F(UnreadableGuard, KeepsNobodyFromOptingOutOrPaying) {
  ASSERT_TRUE(succeeded(office_.customers.opt_out("cust_001", "asked", actor_)));
  EXPECT_EQ(times_made_anew(), 1U);
  const std::int64_t version = guard().version;
  EXPECT_GT(version, base::epoch_milliseconds(test_start)) << "one that nobody has seen";
  store_.time().advance(1s);
  spoil();
  ASSERT_TRUE(succeeded(office_.customers.complain("cust_001", "angry", actor_)));
  EXPECT_GT(guard().version, version);
  spoil();
  ASSERT_TRUE(succeeded(office_.customers.pay("cust_001", "INV-001", {}, actor_)));
  EXPECT_EQ(times_made_anew(), 3U);
}

TEST_F(UnreadableGuard, KeepsNoReminderFromBeingWrittenDown) {
  const auto sent = office_.history.of_customer("cust_001", {}, "");
  ASSERT_TRUE(succeeded(sent));
  ASSERT_TRUE(office_.outbox.cancel(sent->entries.at(0).email_id, "", "not now"));
  office_.deliveries.note(sent->entries.at(0).email_id);
  EXPECT_EQ(office_.deliveries.run_once().value_or(-1), 1);
  EXPECT_THAT(guard().last, IsEmpty());
}

TEST_F(UnreadableGuard, KeepsNobodyFromBeingErased) {
  Erasure erasure(store_.records(), office_.mail);
  const auto report = erasure.erase("cust_001", true, actor_);
  EXPECT_TRUE(succeeded(report));
  EXPECT_EQ(times_made_anew(), 1U);
}

TEST_F(UnreadableGuard, IsShownAsWhatWasSent) {
  const auto last = office_.customers.last_reminders("cust_001", "");
  ASSERT_TRUE(succeeded(last));
  ASSERT_THAT(*last, ::testing::SizeIs(1));
  EXPECT_EQ(last->front().type, "first");
  EXPECT_EQ(times_made_anew(), 0U);
}

}  // namespace
}  // namespace postino::reminders

// Drafts: how they are made, revised, rejected, and what they show, on a real store.
#include "reminders/drafts.h"

#include "base/many_threads_testing.h"
#include "drafting.h"
#include "failing_store.h"
#include "item/attribute_text.h"
#include "reminders/approvals.h"

namespace postino::reminders {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DraftsOnStore : public Drafting {};

TEST_F(DraftsOnStore, FromATemplateHaveAllThatTheSeedNames) {
  add_customer("cust_001");
  add_invoice("cust_001", "INV-002", "0.50", "USD", "2025-12-31");
  add_invoice("cust_001", "INV-003", "7.00", "USD", "2026-01-02");  // today: not overdue
  add_template(
      "Dear {{customer_name}} ({{customer_id}}, {{customer_email}}): {{invoice_ids}}, {{overdue_amount}}, "
      "{{due_date}}, "
      "{{days_overdue}}, {{reminder_type}}");
  const auto shown = drafts_.make(from_template("cust_001"), actor());
  ASSERT_TRUE(succeeded(shown));
  const Draft& draft = shown->draft;
  EXPECT_EQ(draft.id, "20260102_030405_cust_001");
  EXPECT_EQ(draft.text.subject, "Payment Reminder: Invoice INV-001");
  EXPECT_EQ(draft.text.body,
            "Dear Ada Lovelace (cust_001, ada@example.com): INV-001, INV-002, 1500.50 USD, 2025-12-19, 14, first");
  EXPECT_EQ(draft.template_version, 1);
  EXPECT_EQ(draft.created_by, "user_123");
  EXPECT_EQ(draft.created_key, "key_of_user_123");
  EXPECT_TRUE(shown->decision.is_allowed());
  EXPECT_EQ(shown->stopped, "");

  const item::Item item = *store_.get("CUSTOMER#cust_001", "DRAFT#20260102_030405_cust_001");
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"GSI1PK", "STATUS#draft"},
                                                        {"GSI1SK", "2026-01-02T03:04:05Z"},
                                                        {"customer_id", "cust_001"},
                                                        {"customer_name", "Ada Lovelace"},
                                                        {"customer_email", "ada@example.com"},
                                                        {"reminder_type", "first"},
                                                        {"email_subject", "Payment Reminder: Invoice INV-001"},
                                                        {"email_content", draft.text.body},
                                                        {"status", "draft"},
                                                        {"created_date", "2026-01-02T03:04:05Z"},
                                                        {"created_by", "user_123"},
                                                        {"currency", "USD"}})
    EXPECT_EQ(item::attribute_text(item, name), value) << name;
  EXPECT_EQ(*item.find("overdue_amount"), item::AttributeValue(item::Number::parse("1500.5").value()));
  EXPECT_EQ(*item.find("overdue_invoices"), item::AttributeValue(item::List{"INV-001", "INV-002"}));
  EXPECT_EQ(*item.find("ttl"), item::AttributeValue(base::epoch_seconds(test_start + 30 * 24h)));
}

TEST_F(DraftsOnStore, OfTwoCurrenciesNameBothAmounts) {
  add_customer("cust_001");
  add_invoice("cust_001", "INV-002", "100", "EUR", "2025-12-31");
  add_template("{{overdue_amount}}");
  const auto shown = drafts_.make(from_template("cust_001"), actor());
  ASSERT_TRUE(succeeded(shown));
  EXPECT_EQ(shown->draft.text.body, "100.00 EUR and 1500.00 USD");
  // A program that knows one amount gets that of the oldest invoice.
  const Draft draft = stored(shown->draft.id);
  EXPECT_EQ(draft.overdue_amount, Money::parse("1500.00", "USD").value());
  EXPECT_THAT(draft.overdue_totals, ElementsAre("100.00 EUR", "1500.00 USD"));
}

TEST_F(DraftsOnStore, WithGivenTextKeepItAsItIs) {
  add_customer("cust_001");
  NewDraft given = with_text("cust_001");
  given.text = DraftText{"Hello {{name}}", "a {{ b", "<p>{{c}}</p>"};
  given.created_by = "ai_system";
  const auto shown = drafts_.make(given, actor());
  ASSERT_TRUE(succeeded(shown));
  EXPECT_EQ(shown->draft.text, *given.text);
  EXPECT_EQ(shown->draft.created_by, "ai_system");
  EXPECT_EQ(shown->draft.template_id, "");
  EXPECT_EQ(stored(shown->draft.id).text, *given.text);
}

TEST_F(DraftsOnStore, NamesOfCustomersAreNeitherMarkupNorPlaceholders) {
  add_customer("cust_001", "<b>\"Ada\"</b> {{overdue_amount}} & Co");
  TemplateVersion version = template_text("Dear {{customer_name}}, {{note}}");
  version.subject = "{{customer_name}}: {{note}}";
  version.html = "<p>{{customer_name}}, {{note}}</p>";
  version.required = {"note"};
  ASSERT_TRUE(succeeded(templates_.add_version(version, actor())));
  NewDraft draft = from_template("cust_001");
  draft.variables = {{"note", "x\r\nBcc: all@example.org"}};
  const auto shown = drafts_.make(draft, actor());
  ASSERT_TRUE(succeeded(shown));
  EXPECT_EQ(shown->draft.text.subject, "<b>\"Ada\"</b> {{overdue_amount}} & Co: x  Bcc: all@example.org");
  EXPECT_EQ(shown->draft.text.html,
            "<p>&lt;b&gt;&quot;Ada&quot;&lt;/b&gt; {{overdue_amount}} &amp; Co, x\r\nBcc: all@example.org</p>");
  EXPECT_EQ(shown->draft.variables, draft.variables);
  EXPECT_EQ(stored(shown->draft.id).variables, draft.variables);
}

TEST_F(DraftsOnStore, WhatIsWrongIsNamedAndNothingWritten) {
  add_customer("cust_001");
  add_template("{{customer_name}}");
  const auto fields = [&](const NewDraft& draft) { return faulty_fields(drafts_.make(draft, actor())); };
  NewDraft draft = from_template("cust_001");
  draft.reminder_type = "third";
  EXPECT_EQ(refusal_text(drafts_.make(draft, actor())), "reminder_type must be one of first, second, final");
  EXPECT_THAT(fields(draft), ElementsAre("reminder_type"));
  draft.reminder_type = "second";
  EXPECT_THAT(fields(draft), ElementsAre("template_id"));  // it is one for the first
  draft = from_template("cust_001");
  draft.variables = {{"unknown", "x"}};
  EXPECT_THAT(fields(draft), ElementsAre("variables.unknown"));
  draft.variables = {{"overdue_amount", "1.00 USD"}};
  EXPECT_THAT(fields(draft), ElementsAre("variables.overdue_amount")) << "Postino knows better";
  draft.text = DraftText{"s", "b", ""};
  EXPECT_THAT(fields(draft), ElementsAre("template_id"));  // both
  draft.template_id = "";
  EXPECT_THAT(fields(draft), ElementsAre("variables"));
  draft = with_text("cust_001");
  draft.text = std::nullopt;
  EXPECT_THAT(fields(draft), ElementsAre("template_id"));  // neither
  draft.text = DraftText{"s\nBcc: x", "", ""};
  EXPECT_THAT(fields(draft), ElementsAre("text.subject", "text.body"));
  draft = with_text("cust_001");
  draft.created_by = "a\nb";
  EXPECT_THAT(fields(draft), ElementsAre("created_by"));
  draft.created_by = std::string(129, 'a');
  EXPECT_THAT(fields(draft), ElementsAre("created_by"));
  EXPECT_TRUE(is_refused(drafts_.make(with_text("nobody"), actor()), RefusalKind::unknown_customer));
  EXPECT_TRUE(is_refused(drafts_.make(with_text(""), actor()), RefusalKind::unknown_customer));
  EXPECT_TRUE(is_refused(drafts_.make(with_text("cust_001"), actor("acme")), RefusalKind::unknown_customer));
  draft = from_template("cust_001");
  draft.template_id = "none";
  EXPECT_TRUE(is_refused(drafts_.make(draft, actor()), RefusalKind::unknown_template));
  EXPECT_EQ(draft_count("cust_001"), 0U);
  EXPECT_EQ(draft_count("nobody"), 0U);
}

TEST_F(DraftsOnStore, APreviewWritesNothing) {
  add_customer("cust_001");
  add_template("Dear {{customer_name}}");
  const auto preview = drafts_.preview(from_template("cust_001"), "");
  ASSERT_TRUE(succeeded(preview));
  EXPECT_EQ(preview->text.body, "Dear Ada Lovelace");
  EXPECT_TRUE(is_refused(drafts_.preview(from_template("nobody"), ""), RefusalKind::unknown_customer));
  EXPECT_EQ(draft_count("cust_001"), 0U);
}

TEST_F(DraftsOnStore, KeepTheTextThatTheyWereMadeOfWhateverIsActivatedLater) {
  add_customer("cust_001");
  add_template("one");
  add_template("two");
  const std::string id = made(from_template("cust_001"));
  ASSERT_TRUE(succeeded(templates_.activate("reminder_first", 2, actor())));
  EXPECT_EQ(stored(id).text.body, "one");
  EXPECT_EQ(stored(id).template_version, 1);
  EXPECT_EQ(stored(made(from_template("cust_001"))).text.body, "two");
}

TEST_F(DraftsOnStore, TwoOfOneSecondHaveKeysOfTheSeedsForm) {
  add_customer("cust_001");
  EXPECT_EQ(made(with_text("cust_001")), "20260102_030405_cust_001");
  EXPECT_EQ(made(with_text("cust_001")), "20260102_030406_cust_001");
  store_.time().advance(500ms);
  const std::string third = made(with_text("cust_001"));
  EXPECT_EQ(third, "20260102_030407_cust_001");
  EXPECT_EQ(stored(third).created_at, test_start + 500ms);
  EXPECT_EQ(item::attribute_text(*store_.get("CUSTOMER#cust_001", "DRAFT#" + third), "created_date"),
            "2026-01-02T03:04:05Z");
}

TEST_F(DraftsOnStore, AFreeSecondIsFoundHoweverManyAreTaken) {
  add_customer("cust_001");
  for (int second = 0; second < 300; ++second)
    if (second != 250) store_.put(seed_draft("cust_001", test_start + second * 1s, "first"));
  store_.put(seed_draft("cust_001", test_start + 1'000 * 24h, "first"));
  EXPECT_EQ(made(with_text("cust_001")), "20260102_030815_cust_001") << "the first gap";
  EXPECT_EQ(made(with_text("cust_001")), "20260102_030905_cust_001") << "behind the last, and not behind one of 2028";
  EXPECT_EQ(made(with_text("cust_001")), "20260102_030906_cust_001");
}

TEST_F(DraftsOnStore, ASecondThatIsTakenMeanwhileIsLookedForAgain) {
  add_customer("cust_001");
  FailingStore watched(store_.engine());
  ReminderStore records(watched, {}, Rules::usual(), store_.time(), store_.random(), store_.retry());
  Drafts drafts(records, customers_, templates_, mail_);
  store_.put(seed_draft("cust_001", test_start, "first"));
  watched.meet_at_write(2, [&] { store_.put(seed_draft("cust_001", test_start + 1s, "first")); });
  const auto shown = drafts.make(with_text("cust_001"), actor());
  ASSERT_TRUE(succeeded(shown));
  EXPECT_EQ(shown->draft.id, "20260102_030407_cust_001");
}

TEST_F(DraftsOnStore, InBulkEachHasAnAnswer) {
  add_customer("cust_001");
  add_customer("cust_002");
  add_template();
  NewDraft bad = with_text("cust_002");
  bad.reminder_type = "third";
  const auto answers =
      drafts_.make_all({from_template("cust_001"), with_text("nobody"), bad, from_template("cust_002")}, actor());
  ASSERT_TRUE(succeeded(answers));
  ASSERT_EQ(answers->size(), 4U);
  EXPECT_EQ((*answers)[0]->draft.customer_id, "cust_001");
  EXPECT_TRUE(is_refused((*answers)[1], RefusalKind::unknown_customer));
  EXPECT_THAT(faulty_fields((*answers)[2]), ElementsAre("reminder_type"));
  EXPECT_EQ((*answers)[3]->draft.customer_id, "cust_002");
}

TEST_F(DraftsOnStore, InBulkNoneWaitsForAStoreThatHasFailed) {
  add_customer("cust_001");
  FailingStore failing(store_.engine());
  int pauses = 0;
  ReminderStore records(failing, {}, Rules::usual(), store_.time(), store_.random(),
                        store::Retry(store_.random(), [&](base::Milliseconds) { ++pauses; }));
  Customers customers(records);
  Drafts drafts(records, customers, templates_, mail_);
  failing.fail_at(2, WriteFault::ended_before);
  const auto answers = drafts.make_all(std::vector<NewDraft>(50, with_text("cust_001")), actor());
  ASSERT_TRUE(succeeded(answers));
  ASSERT_EQ(answers->size(), 50U);
  EXPECT_TRUE(succeeded((*answers)[0]));
  EXPECT_TRUE(is_refused((*answers)[1], RefusalKind::outcome_unknown));
  for (std::size_t i = 2; i < 50; ++i) EXPECT_TRUE(is_refused((*answers)[i], RefusalKind::unavailable)) << i;
  EXPECT_LT(pauses, 3 * store::store_attempts) << "the rest is answered at once";
}

TEST_F(DraftsOnStore, InBulkARepeatMakesThoseThatAreLeft) {
  add_customer("cust_001");
  const std::vector<NewDraft> wanted(3, with_text("cust_001"));
  Actor author = actor();
  author.note_progress.action = [](const std::string& text) -> store::TransactAction {
    store::TransactPut put;
    put.table_name = ReminderTables().tracking;
    put.item = {{"PK", "PROGRESS"}, {"SK", "1"}, {"text", text}};
    return put;
  };
  FailingStore failing(store_.engine());
  ReminderStore records(failing, {}, Rules::usual(), store_.time(), store_.random(), store_.retry());
  Customers customers(records);
  failing.fail_at(2, WriteFault::ended_after);
  const auto cut_off = Drafts(records, customers, templates_, mail_).make_all(wanted, author);
  ASSERT_TRUE(succeeded(cut_off));
  EXPECT_TRUE(is_refused(cut_off->at(1), RefusalKind::outcome_unknown));
  EXPECT_EQ(draft_count("cust_001"), 2U);

  author.note_progress.last = item::attribute_text(store_.get("PROGRESS", "1").value(), "text");
  const auto answers = drafts_.make_all(wanted, author);
  ASSERT_TRUE(succeeded(answers));
  ASSERT_EQ(answers->size(), 3U);
  EXPECT_EQ(answers->at(0)->draft.id, cut_off->at(0)->draft.id);
  for (const auto& answer : *answers) EXPECT_TRUE(succeeded(answer));
  EXPECT_EQ(draft_count("cust_001"), 3U);
}

TEST_F(DraftsOnStore, InBulkThereAreAtMostAHundred) {
  add_customer("cust_001");
  const std::vector<NewDraft> many(101, with_text("cust_001"));
  EXPECT_THAT(faulty_fields(drafts_.make_all(many, actor())), ElementsAre("drafts"));
  EXPECT_THAT(faulty_fields(drafts_.make_all({}, actor())), ElementsAre("drafts"));
  EXPECT_EQ(draft_count("cust_001"), 0U);
  const auto answers = drafts_.make_all({many.begin(), many.begin() + 100}, actor());
  ASSERT_TRUE(succeeded(answers));
  for (const auto& answer : *answers) EXPECT_TRUE(succeeded(answer));
  EXPECT_EQ(draft_count("cust_001"), 100U);
}

TEST_F(DraftsOnStore, HaveNumberedRevisionsWithADiff) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  store_.time().advance(1min);
  const auto second =
      drafts_.revise(id, 1, {"Please pay", "Dear customer,\nplease pay soon.\n", "<p>html</p>"}, actor("", "ann"));
  ASSERT_TRUE(succeeded(second));
  EXPECT_EQ(second->draft.revision, 2);
  EXPECT_EQ(second->draft.revised_by, "ann");
  store_.time().advance(1min);
  const auto third = drafts_.revise(id, 2, {"Pay now", "Dear customer,\nplease pay soon.\n", ""}, actor("", "bob"));
  ASSERT_TRUE(succeeded(third));
  EXPECT_EQ(stored(id).text.html, "");

  const auto revisions = drafts_.revisions(id, "");
  ASSERT_TRUE(succeeded(revisions));
  ASSERT_EQ(revisions->size(), 3U);
  for (int i = 0; i < 3; ++i) {
    const Revision& revision = (*revisions)[static_cast<std::size_t>(i)];
    EXPECT_EQ(revision.number, i + 1);
    EXPECT_EQ(revision.at, test_start + i * 1min);
    EXPECT_EQ(revision.author, (std::vector<std::string>{"user_123", "ann", "bob"}[static_cast<std::size_t>(i)]));
  }
  EXPECT_EQ((*revisions)[0].text.body, "Dear customer,\nplease pay.\n");
  EXPECT_EQ((*revisions)[1].text.html, "<p>html</p>");

  const auto diff = drafts_.diff(id, 1, 3, "");
  ASSERT_TRUE(succeeded(diff));
  EXPECT_THAT(diff->subject, ElementsAre(DiffLine{'-', "Please pay"}, DiffLine{'+', "Pay now"}));
  EXPECT_THAT(diff->body, ElementsAre(DiffLine{' ', "Dear customer,"}, DiffLine{'-', "please pay."},
                                      DiffLine{'+', "please pay soon."}));
  EXPECT_THAT(diff->html, IsEmpty());
  EXPECT_THAT(drafts_.diff(id, 2, 1, "")->html, ElementsAre(DiffLine{'-', "<p>html</p>"}));
  EXPECT_THAT(faulty_fields(drafts_.diff(id, 0, 1, "")), ElementsAre("from"));
  EXPECT_THAT(faulty_fields(drafts_.diff(id, 1, 4, "")), ElementsAre("to"));
  EXPECT_EQ(*store_.get("CUSTOMER#cust_001", revision_sort(id, 1))->find("ttl"),
            item::AttributeValue(base::epoch_seconds(test_start + 30 * 24h)));
}

TEST_F(DraftsOnStore, AnOlderRevisionIsNotRevisedNorRejected) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  ASSERT_TRUE(succeeded(drafts_.revise(id, 1, {"s", "b", ""}, actor())));
  for (const int seen : {0, 1, 3}) {
    const auto revised = drafts_.revise(id, seen, {"t", "c", ""}, actor());
    EXPECT_TRUE(is_refused(revised, RefusalKind::other_revision));
    EXPECT_EQ(revised.error().current_revision, 2);
    const auto rejected = drafts_.reject(id, seen, "wrong", actor());
    EXPECT_TRUE(is_refused(rejected, RefusalKind::other_revision));
    EXPECT_EQ(rejected.error().current_revision, 2);
  }
  EXPECT_EQ(stored(id).text.subject, "s");
  EXPECT_THAT(faulty_fields(drafts_.revise(id, 2, {"", "b", ""}, actor())), ElementsAre("text.subject"));
  // The same text makes no revision.
  EXPECT_EQ(drafts_.revise(id, 2, {"s", "b", ""}, actor("", "ann"))->draft.revision, 2);
  EXPECT_EQ(stored(id).revised_by, "user_123");
}

TEST_F(DraftsOnStore, RevisionsHaveALimit) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  for (int revision = 1; revision < most_revisions; ++revision)
    ASSERT_TRUE(succeeded(drafts_.revise(id, revision, {"s", std::to_string(revision), ""}, actor())));
  EXPECT_TRUE(is_refused(drafts_.revise(id, most_revisions, {"s", "last", ""}, actor()), RefusalKind::wrong_state));
  EXPECT_EQ(drafts_.revisions(id, "")->size(), static_cast<std::size_t>(most_revisions));
}

TEST_F(DraftsOnStore, OfAnotherProgramMayHaveAnyVersion) {
  add_customer("cust_001");
  for (const int version : {-7, 0, 3}) {
    item::Item item = seed_draft("cust_001", test_start + std::chrono::seconds(10 + version), "first");
    item.set("version", version);
    const std::string id = item::attribute_text(item, "SK").substr(draft_begin.size());
    store_.put(std::move(item));
    EXPECT_TRUE(succeeded(drafts_.find(id, ""))) << version;
    EXPECT_TRUE(succeeded(drafts_.revise(id, 1, {"s", "b", ""}, actor()))) << version;
    EXPECT_TRUE(succeeded(drafts_.reject(id, 2, "no", actor()))) << version;
    EXPECT_GT(stored(id).version, std::max(0, version)) << version;
  }
  item::Item odd = seed_draft("cust_001", test_start + 60s, "first");
  odd.set("version", -1);
  store_.put(odd);
  Approvals approvals(store_.records(), customers_, mail_, {.other_person = false, .from = "billing@example.com"});
  EXPECT_TRUE(succeeded(approvals.approve("20260102_030505_cust_001", 1, actor())));
}

TEST_F(DraftsOnStore, ARejectionHasAPerson) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  EXPECT_THAT(faulty_fields(drafts_.reject(id, 1, "no", {})), ElementsAre("rejected_by"));
  EXPECT_EQ(stored(id).status, DraftStatus::draft);
}

TEST_F(DraftsOnStore, ARejectionHasAReasonAndIsFinal) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  EXPECT_THAT(faulty_fields(drafts_.reject(id, 1, "", actor())), ElementsAre("reason"));
  EXPECT_THAT(faulty_fields(drafts_.reject(id, 1, std::string(longest_reason + 1, 'a'), actor())),
              ElementsAre("reason"));
  EXPECT_EQ(stored(id).status, DraftStatus::draft);
  store_.time().advance(1min);
  const auto rejected = drafts_.reject(id, 1, "the amount is wrong", actor("", "ann"));
  ASSERT_TRUE(succeeded(rejected));
  const Draft draft = stored(id);
  EXPECT_EQ(draft.status, DraftStatus::rejected);
  EXPECT_EQ(draft.reason, "the amount is wrong");
  EXPECT_EQ(draft.decided_by, "ann");
  EXPECT_EQ(draft.decided_at, test_start + 1min);
  EXPECT_EQ(item::attribute_text(*store_.get("CUSTOMER#cust_001", "DRAFT#" + id), "GSI1PK"), "STATUS#rejected");
  EXPECT_TRUE(is_refused(drafts_.reject(id, 1, "again", actor()), RefusalKind::wrong_state));
  EXPECT_TRUE(is_refused(drafts_.revise(id, 1, {"s", "b", ""}, actor()), RefusalKind::wrong_state));
  EXPECT_TRUE(is_refused(drafts_.reject("20260102_030405_nobody", 1, "r", actor()), RefusalKind::unknown_draft));
  EXPECT_TRUE(is_refused(drafts_.reject("nonsense", 1, "r", actor()), RefusalKind::unknown_draft));
}

TEST_F(DraftsOnStore, ExpireAfterThirtyDays) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  store_.time().advance(30 * 24h - 1ms);
  EXPECT_EQ(stored(id).status, DraftStatus::draft);
  ASSERT_TRUE(succeeded(drafts_.revise(id, 1, {"s", "b", ""}, actor())));
  store_.time().advance(1ms);
  EXPECT_EQ(stored(id).status, DraftStatus::expired);
  EXPECT_TRUE(is_refused(drafts_.revise(id, 2, {"t", "b", ""}, actor()), RefusalKind::wrong_state));
  EXPECT_TRUE(is_refused(drafts_.reject(id, 2, "late", actor()), RefusalKind::wrong_state));
}

TEST_F(DraftsOnStore, OfTenantsAreApart) {
  add_customer("cust_001");
  add_customer("cust_001", "Of acme", "acme");
  const std::string id = made(with_text("cust_001"));
  EXPECT_TRUE(is_refused(drafts_.find(id, "acme"), RefusalKind::unknown_draft));
  EXPECT_TRUE(is_refused(drafts_.revise(id, 1, {"s", "b", ""}, actor("acme")), RefusalKind::unknown_draft));
  EXPECT_TRUE(is_refused(drafts_.reject(id, 1, "r", actor("acme")), RefusalKind::unknown_draft));
  EXPECT_TRUE(is_refused(drafts_.revisions(id, "acme"), RefusalKind::unknown_draft));
  EXPECT_EQ(made(with_text("cust_001"), "acme"), id);
  EXPECT_EQ(stored(id, "acme").customer_name, "Of acme");
  EXPECT_EQ(stored(id).customer_name, "Ada Lovelace");
}

TEST_F(DraftsOnStore, ConcurrentOnesOfOneCustomerHaveKeysOfTheirOwn) {
  add_customer("cust_001");
  base::run_threads(8, [&](int) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(succeeded(drafts_.make(with_text("cust_001"), actor())));
  });
  EXPECT_EQ(draft_count("cust_001"), 24U);
}

TEST_F(DraftsOnStore, OfConcurrentRevisionsOneWins) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  std::atomic<int> won = 0;
  base::run_threads(8, [&](int thread) {
    const auto revised = drafts_.revise(id, 1, {"s", "by " + std::to_string(thread), ""}, actor());
    if (revised)
      ++won;
    else
      EXPECT_TRUE(is_refused(revised, RefusalKind::other_revision));
  });
  EXPECT_EQ(won, 1);
  EXPECT_EQ(drafts_.revisions(id, "")->size(), 2U);
}

// A clock that does something when it is looked at for the nth time.
class BusyClock final : public base::Clock {
 public:
  explicit BusyClock(const base::Clock& clock) : clock_(clock) {}
  base::TimePoint now() const override {
    if (left > 0 && --left == 0) act();
    return clock_.now();
  }

  mutable int left = 0;
  std::function<void()> act;

 private:
  const base::Clock& clock_;
};

// A payment at any moment while a draft is made: no draft stays that asks for what is paid.
TEST_F(DraftsOnStore, APaymentMeanwhileIsNotOverlooked) {
  int withdrawn = 0, made_after = 0;
  for (int moment = 1; moment <= 12; ++moment) {
    const std::string customer = "cust_" + std::to_string(moment);
    add_customer(customer);
    BusyClock clock(store_.time());
    ReminderStore records(store_.engine(), {}, Rules::usual(), clock, store_.random(), store_.retry());
    Drafts drafts(records, customers_, templates_, mail_);
    clock.left = moment;
    clock.act = [&] { EXPECT_TRUE(succeeded(customers_.pay(customer, "INV-001", {}, actor()))); };
    const auto shown = drafts.make(with_text(customer), actor());
    ASSERT_TRUE(succeeded(shown));
    if (clock.left > 0) continue;
    const Draft draft = stored(shown->draft.id);
    const bool asks = !draft.overdue_invoices.empty();
    EXPECT_TRUE(!asks || draft.status == DraftStatus::withdrawn) << moment;
    ++(asks ? withdrawn : made_after);
  }
  EXPECT_GT(made_after, 0);
  EXPECT_GT(withdrawn, 0);
}

// A customer who is erased while a draft is made gets none afterwards.
TEST_F(DraftsOnStore, AnErasureMeanwhileIsNotOverlooked) {
  int refused = 0;
  for (int moment = 1; moment <= 12; ++moment) {
    const std::string customer = "cust_" + std::to_string(moment);
    add_customer(customer);
    BusyClock clock(store_.time());
    ReminderStore records(store_.engine(), {}, Rules::usual(), clock, store_.random(), store_.retry());
    Drafts drafts(records, customers_, templates_, mail_);
    clock.left = moment;
    std::optional<std::size_t> erased_with;
    clock.act = [&] {
      erased_with = draft_count(customer);
      store::DeleteItemRequest removal;
      removal.table_name = "EmailTrackingTable";
      removal.key = Keys::key("CUSTOMER#" + customer, profile_sort);
      EXPECT_TRUE(store_.engine().delete_item(removal));
    };
    const auto shown = drafts.make(with_text(customer), actor());
    if (!erased_with) continue;
    EXPECT_EQ(draft_count(customer), *erased_with) << moment;
    if (*erased_with == 0) EXPECT_TRUE(is_refused(shown, RefusalKind::unknown_customer)) << moment;
    refused += shown ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

// That is where the approval would send it.
TEST_F(DraftsOnStore, ShowTheAddressThatTheCustomerHas) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  Customer moved = customers_.find("cust_001", "").value();
  moved.name = "Ada King";
  moved.email = "ada@example.net";
  ASSERT_TRUE(succeeded(customers_.put(moved, actor())));
  EXPECT_EQ(stored(id).customer_email, "ada@example.net");
  EXPECT_EQ(stored(id).customer_name, "Ada King");
  EXPECT_EQ(stored(id).revision, 1);
  ASSERT_TRUE(succeeded(drafts_.reject(id, 1, "no", actor())));
  EXPECT_EQ(stored(id).customer_email, "ada@example.com") << "as it was when it was decided on";
}

TEST_F(DraftsOnStore, AreWrittenAndToldAlthoughTheOutboxIsAway) {
  add_customer("cust_001");
  mail_.fails = true;
  const auto draft = drafts_.make(with_text("cust_001"), actor());
  ASSERT_TRUE(succeeded(draft));
  EXPECT_EQ(draft->stopped,
            "it is not known now whether the customer may get it: the suppression list cannot be read: the outbox is "
            "away");
  const std::string& id = draft->draft.id;
  const auto revised = drafts_.revise(id, 1, {"Please pay", "now", ""}, actor());
  ASSERT_TRUE(succeeded(revised));
  EXPECT_EQ(revised->draft.revision, 2);
  ASSERT_TRUE(succeeded(drafts_.reject(id, 2, "no", actor())));
  EXPECT_TRUE(is_refused(drafts_.find(id, ""), RefusalKind::unavailable));
  mail_.fails = false;
  EXPECT_EQ(stored(id).status, DraftStatus::rejected);
  EXPECT_EQ(draft_count("cust_001"), 1U);
}

class DraftsThatOthersChange : public DraftsOnStore {
 protected:
  void change_text(const std::string& id, const std::string& body) {
    item::Item item = store_.get("CUSTOMER#cust_001", "DRAFT#" + id).value();
    item.set("email_content", body);
    store_.put(item);
  }
  OrRefusal<SentReminder> approve(const std::string& id, int seen) {
    Approvals approvals(store_.records(), customers_, mail_, {.other_person = false, .from = "billing@example.com"});
    return approvals.approve(id, seen, actor());
  }
  static int current_revision(const OrRefusal<SentReminder>& answer) {
    EXPECT_TRUE(is_refused(answer, RefusalKind::other_revision));
    return answer ? 0 : answer.error().current_revision.value_or(0);
  }
};

TEST_F(DraftsThatOthersChange, GetARevisionForEachText) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  change_text(id, "pay twice");
  EXPECT_EQ(current_revision(approve(id, 1)), 2);
  change_text(id, "pay three times");
  EXPECT_EQ(current_revision(approve(id, 2)), 3) << "the second text was never this one";
  EXPECT_EQ(current_revision(approve(id, 2)), 3) << "once";
  EXPECT_EQ(stored(id).revised_by, "another program");
  EXPECT_TRUE(is_refused(drafts_.reject(id, 2, "no", actor()), RefusalKind::other_revision));
  const auto alone = drafts_.diff(id, {}, {}, "");
  ASSERT_TRUE(succeeded(alone)) << "the texts before it were overwritten";
  EXPECT_EQ(alone->from, 3);
  EXPECT_EQ(refusal_text(drafts_.diff(id, 1, {}, "")), "from must be a revision of the draft whose text is kept: 3");
  const auto revised = drafts_.revise(id, 3, {"Please pay", "once", ""}, actor());
  ASSERT_TRUE(succeeded(revised));
  EXPECT_EQ(revised->draft.revision, 4);
  change_text(id, "pay four times");
  const auto diff = drafts_.diff(id, {}, {}, "");
  ASSERT_TRUE(succeeded(diff));
  EXPECT_THAT(std::pair(diff->from, diff->to), ::testing::Pair(3, 5)) << "those that are kept";
  EXPECT_THAT(diff->body, ElementsAre(DiffLine{'-', "pay three times"}, DiffLine{'+', "pay four times"}));
  EXPECT_THAT(faulty_fields(drafts_.diff(id, {}, 4, "")), ElementsAre("to"));
  ASSERT_TRUE(succeeded(drafts_.revise(id, 5, {"Please pay", "once", ""}, actor())));
  const auto sent = approve(id, 6);
  ASSERT_TRUE(succeeded(sent));
  EXPECT_EQ(sent->text.body, "once");
}

TEST_F(DraftsThatOthersChange, OfOthersDoSoAfterTheyWereShown) {
  store_.put(seed_draft("cust_001", test_start, "first"));
  const std::string id = "20260102_030405_cust_001";
  const auto page = drafts_.list({}, {}, "");
  ASSERT_TRUE(succeeded(page));
  EXPECT_EQ(page->entries.at(0).draft.revision, 1);
  change_text(id, "pay twice");
  EXPECT_EQ(current_revision(approve(id, 1)), 2);
  store_.put(seed_draft("cust_001", test_start, "first"));
  EXPECT_EQ(current_revision(approve(id, 2)), 3) << "it was put again";
  store_.put(seed_draft("cust_001", test_start, "first"));
  EXPECT_EQ(stored(id).revision, 3) << "the same text was put again";
  ASSERT_TRUE(succeeded(approve(id, 3)));
}

TEST_F(DraftsThatOthersChange, AreNotTakenForARevisionOfOurs) {
  store_.put(seed_draft("cust_001", test_start, "first"));
  const std::string id = "20260102_030405_cust_001";
  ASSERT_TRUE(succeeded(drafts_.revise(id, 1, {"Please pay", "once", ""}, actor())));
  store_.put(seed_draft("cust_001", test_start, "first"));
  EXPECT_EQ(current_revision(approve(id, 2)), 3);
  EXPECT_EQ(current_revision(approve(id, 1)), 3);
}

TEST_F(DraftsThatOthersChange, OfOursAreNotTheRevisionThatTheyWereWhenTheyArePutAnew) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  store_.put(seed_draft("cust_001", test_start, "first"));
  EXPECT_EQ(current_revision(approve(id, 1)), 2) << "it was approved without having been seen";
  ASSERT_TRUE(succeeded(drafts_.revise(id, 2, {"Please pay", "once", ""}, actor())));
  store_.remove("CUSTOMER#cust_001", "REVISION#" + id + "#000002");
  store_.put(seed_draft("cust_001", test_start, "first"));
  EXPECT_EQ(current_revision(approve(id, 3)), 4);
}

// All that the e-mail is made of is what was seen.
TEST_F(DraftsThatOthersChange, AreOtherRevisionsForOtherRecipientsTypesAndSenders) {
  store_.put(seed_draft("cust_001", test_start, "first"));
  const std::string id = "20260102_030405_cust_001";
  int revision = stored(id).revision;
  for (const std::string name : {"customer_email", "customer_name", "reminder_type", "email_from", "email_reply_to"}) {
    item::Item item = store_.get("CUSTOMER#cust_001", "DRAFT#" + id).value();
    item.set(name, "other@example.com");
    store_.put(std::move(item));
    EXPECT_EQ(current_revision(approve(id, revision)), revision + 1) << name;
    ++revision;
  }
}

TEST_F(DraftsThatOthersChange, OfEarlierVersionsAreWhatTheyWere) {
  add_customer("cust_001");
  const std::string id = made(with_text("cust_001"));
  item::Item item = store_.get("CUSTOMER#cust_001", "DRAFT#" + id).value();
  item.set("text_hash", hash_of_text(*with_text("cust_001").text));
  store_.put(item);
  EXPECT_EQ(stored(id).revision, 1);
  ASSERT_TRUE(succeeded(approve(id, 1)));
}

}  // namespace
}  // namespace postino::reminders

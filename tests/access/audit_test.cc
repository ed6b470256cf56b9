// The audit in a store: chains of entries, what shows when something of them is changed or missing, and lists.
#include <gmock/gmock.h>

#include "access/audit_chain.h"
#include "access/audit_reader.h"
#include "base/timestamp.h"
#include "engine/embedded_store_testing.h"
#include "item/attribute_text.h"
#include "store/shared_store_testing.h"

namespace postino::access {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto audit_table = "postino-audit";

class AuditTest : public testing::Test {
 protected:
  AuditTest() { EXPECT_TRUE(prepare_audit(embedded_.engine(), {})); }

  AuditChain chain(store::Store& store) {
    return AuditChain(store, {.kept = days(30)}, *clock_, embedded_.random(), embedded_.retry());
  }
  void append(AuditChain& chain, const std::string& action, const std::string& tenant = "") {
    const auto done = chain.append({{.actor = "anna", .kind = AuditEvent::user, .tenant = tenant, .action = action}});
    ASSERT_TRUE(done) << done.error().message;
    clock_->advance(seconds(1));
  }
  AuditReader reader() { return {embedded_.engine(), audit_table, *clock_, embedded_.retry()}; }
  AuditVerdict verify(const std::vector<KnownEntry>& known = {}) {
    AuditReader all = reader();
    const auto verdict = all.verify(known);
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict ? *verdict : AuditVerdict();
  }
  // "CHAIN NUMBER: FAULT", with the chain's place in the order of names.
  std::vector<std::string> faults(const std::vector<KnownEntry>& known = {}) {
    std::vector<std::string> texts;
    for (const AuditFault& fault : verify(known).faults)
      texts.push_back(std::to_string(fault.number) + ": " + fault.fault);
    return texts;
  }
  // Of the last page first; from the newest to the oldest.
  std::vector<std::string> actions(AuditQuestion question = {}) {
    std::vector<std::string> all;
    AuditReader entries = reader();
    do {
      const auto page = entries.list(question);
      EXPECT_TRUE(page) << page.error().message;
      if (!page) return all;
      for (const AuditEntry& entry : page->entries) all.push_back(entry.event.action);
      question.cursor = page->cursor;
    } while (!question.cursor.empty());
    return all;
  }

  // What somebody does who can write to the store itself.
  item::Item entry_of(const std::string& action) {
    for (item::Item& item : embedded_.scan(audit_table))
      if (item::attribute_text(item, "action") == action) return item;
    ADD_FAILURE() << "no entry " << action;
    return {};
  }
  void write(item::Item item) {
    store::PutItemRequest put;
    put.table_name = audit_table;
    put.item = std::move(item);
    EXPECT_TRUE(embedded_.engine().put_item(put));
  }
  void remove(const item::Item& item) {
    store::DeleteItemRequest removal;
    removal.table_name = audit_table;
    removal.key = {{"PK", item::attribute_text(item, "PK")}, {"SK", item::attribute_text(item, "SK")}};
    EXPECT_TRUE(embedded_.engine().delete_item(removal));
  }
  void remove_chain_record(const std::string& chain) {
    for (const item::Item& item : embedded_.scan(audit_table))
      if (item::attribute_text(item, "PK") == chains_partition && item::attribute_text(item, "SK") == chain)
        remove(item);
  }

  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(engine::embedded_start);
  engine::EmbeddedStore embedded_{clock_};
  store::SharedStore shared_{embedded_.engine()};
};

TEST_F(AuditTest, EntriesMakeOneChainAcrossStarts) {
  for (const char* const first : {"a", "c"}) {
    AuditChain each = chain(embedded_.engine());
    append(each, first);
    append(each, std::string(first) + "+");
  }
  EXPECT_THAT(actions(), ElementsAre("c+", "c", "audit.opened", "a+", "a", "audit.opened"));
  const AuditVerdict verdict = verify();
  EXPECT_TRUE(verdict.is_intact());
  EXPECT_EQ(verdict.entries, 6);
  ASSERT_THAT(verdict.heads, SizeIs(1));
  EXPECT_EQ(verdict.heads.front().number, 6);
}

TEST_F(AuditTest, AChangedEntryIsFound) {
  AuditChain one = chain(embedded_.engine());
  for (const char* const action : {"a", "b", "c"}) append(one, action);
  item::Item changed = entry_of("b");
  changed.set("actor", "otto");
  write(changed);
  EXPECT_THAT(faults(), ElementsAre("3: the entry was changed"));
  // Also if its digest was made to fit: the next one has the former.
  auto entry = read_audit_entry(changed);
  ASSERT_TRUE(entry);
  entry->digest = digest_of(*entry);
  write(item_of(*entry));
  EXPECT_THAT(faults(), ElementsAre("4: the entry does not go on from the one before it"));
}

TEST_F(AuditTest, ARemovedEntryIsFound) {
  AuditChain one = chain(embedded_.engine());
  for (const char* const action : {"a", "b", "c"}) append(one, action);
  const item::Item second = entry_of("b");
  remove(second);
  EXPECT_THAT(faults(), ElementsAre("3: the entry is missing"));
  remove(entry_of("a"));
  EXPECT_THAT(faults(), ElementsAre("2: the entries up to 3 are missing, or some of them"));
}

TEST_F(AuditTest, TheEndOfAChainCannotBeTakenAway) {
  AuditChain one = chain(embedded_.engine());
  for (const char* const action : {"a", "b"}) append(one, action);
  const AuditHead head = verify().heads.front();
  remove(entry_of("b"));
  EXPECT_THAT(faults(), ElementsAre("3: the entry is missing, which the record of the chain has"));
  // Who also sets back the record is found by what was told before.
  auto entry = read_audit_entry(entry_of("a"));
  ASSERT_TRUE(entry);
  write(item_of(AuditChainRecord{entry->head(), "", entry->at}));
  EXPECT_THAT(faults(), IsEmpty());
  const auto known = parse_known_entry(text_of(head));
  ASSERT_TRUE(known);
  const KnownEntry last{entry->chain, entry->number, std::string(64, 'a')};
  EXPECT_THAT(faults({last}), ElementsAre("2: the entry is another one than what was told before has"));
  EXPECT_THAT(faults({*known}), ElementsAre("3: the entry is missing, which what was told before has"));
}

TEST_F(AuditTest, AnEntryThatStandsElsewhereIsFound) {
  AuditChain one = chain(embedded_.engine());
  for (const char* const action : {"a", "b", "c"}) append(one, action);
  item::Item moved = entry_of("b");
  remove(moved);
  moved.set("SK", "2026-01-02T03:59:00.000Z#" + item::attribute_text(moved, "chain") + "#000000000003");
  write(moved);
  EXPECT_THAT(faults(),
              ElementsAre("3: the entry is missing", "3: the entry is in another place than it was written to",
                          "3: the entry comes after one with a higher number"));
}

// The one who writes notices, and goes on with another chain that names the former.
TEST_F(AuditTest, AChainThatIsTakenAwayWholeIsFound) {
  AuditChain one = chain(embedded_.engine());
  for (const char* const action : {"a", "b"}) append(one, action);
  const std::string name = verify().heads.front().chain;
  for (const item::Item& item : embedded_.scan(audit_table)) remove(item);
  append(one, "c");
  EXPECT_THAT(actions(), ElementsAre("c", "audit.opened"));
  const AuditVerdict verdict = verify();
  ASSERT_THAT(verdict.faults, SizeIs(1));
  EXPECT_EQ(verdict.faults.front().chain, name);
  EXPECT_THAT(verdict.faults.front().fault, HasSubstr("missing or another one than entry 1 of "));
}

TEST_F(AuditTest, AMissingRecordOfAChainIsFound) {
  AuditChain one = chain(embedded_.engine());
  append(one, "a");
  remove_chain_record(verify().heads.front().chain);
  EXPECT_THAT(faults(), ElementsAre("0: the record of the chain is missing"));
}

TEST_F(AuditTest, WhatHasExpiredIsNotMissed) {
  AuditChain one = chain(embedded_.engine());
  for (const char* const action : {"a", "b"}) append(one, action);
  clock_->advance(days(20));
  append(one, "c");
  clock_->advance(days(10) - minutes(1));
  EXPECT_THAT(faults(), IsEmpty());
  // The store removes it in any order, and not at once.
  clock_->advance(minutes(2));
  const item::Item first = entry_of("audit.opened");
  remove(entry_of("a"));
  EXPECT_THAT(faults(), IsEmpty());
  remove(entry_of("b"));
  remove(first);
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_THAT(actions(), ElementsAre("c"));
  remove(entry_of("c"));
  EXPECT_THAT(faults(), SizeIs(1)) << "that one has not expired";
}

TEST_F(AuditTest, TheStoreItselfRemovesWhatHasExpired) {
  AuditChain one = chain(embedded_.engine());
  append(one, "a");
  clock_->advance(days(29));
  append(one, "b");
  clock_->advance(days(1) + hours(1));
  // It does not believe such a jump at once.
  for (int i = 0; i < 3; ++i) {
    while (embedded_.engine().run_maintenance_once().value_or(false)) {
    }
    clock_->advance(hours(1));
  }
  EXPECT_THAT(actions(), ElementsAre("b"));
  EXPECT_THAT(faults(), IsEmpty());
  append(one, "c");
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(AuditTest, ServersOfOneStoreHaveChainsOfTheirOwn) {
  AuditChain one = chain(shared_);
  AuditChain other = chain(shared_);
  append(one, "a");
  append(other, "b");
  append(one, "c");
  const AuditVerdict verdict = verify();
  EXPECT_TRUE(verdict.is_intact());
  EXPECT_THAT(verdict.heads, SizeIs(2));
  EXPECT_THAT(actions(), ElementsAre("c", "b", "audit.opened", "a", "audit.opened"));
}

TEST_F(AuditTest, AnotherServerGoesOnWithAChainThatWasLeft) {
  AuditChain one = chain(shared_);
  append(one, "a");
  one.leave();
  AuditChain other = chain(shared_);
  append(other, "b");
  EXPECT_THAT(verify().heads, SizeIs(1));
  // Or with one of a server that was killed, after a while; if it is still there, it takes another.
  clock_->advance(minutes(11));
  AuditChain third = chain(shared_);
  append(third, "c");
  EXPECT_THAT(verify().heads, SizeIs(1));
  append(other, "d");
  const AuditVerdict verdict = verify();
  EXPECT_TRUE(verdict.is_intact());
  EXPECT_THAT(verdict.heads, SizeIs(2));
  append(third, "e");
  EXPECT_THAT(actions({.actor = "anna"}), ElementsAre("e", "d", "c", "b", "a"));
}

TEST_F(AuditTest, AnEventWhoseAnswerWasLostIsWrittenOnce) {
  AuditChain one = chain(shared_);
  append(one, "a");
  const std::vector<AuditEvent> event{{.actor = "anna", .kind = AuditEvent::user, .action = "b"}};
  shared_.lose_answers(store::store_attempts);
  ASSERT_FALSE(one.append(event));
  ASSERT_TRUE(one.append(event));
  append(one, "c");
  EXPECT_THAT(actions({.actor = "anna"}), ElementsAre("c", "b", "a"));
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(AuditTest, TimesOfAChainDoNotGoBack) {
  AuditChain one = chain(embedded_.engine());
  append(one, "a");
  clock_->set_by(-hours(2));
  append(one, "b");
  clock_->set_by(hours(2));
  EXPECT_THAT(actions({.actor = "anna"}), ElementsAre("b", "a"));
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(AuditTest, AListHasWhatIsAskedFor) {
  AuditChain one = chain(embedded_.engine());
  append(one, "cancelEmail", "north");
  append(one, "createKey");
  clock_->advance(days(3));
  const base::TimePoint between = clock_->now();
  append(one, "cancelEmail", "south");
  ASSERT_TRUE(one.append({{.actor = "otto", .action = "deleteKey", .subject = "shop", .result = AuditEvent::refused}}));
  EXPECT_THAT(actions({.tenant = "north"}), ElementsAre("cancelEmail"));
  EXPECT_THAT(actions({.action = "cancel"}), ElementsAre("cancelEmail", "cancelEmail"));
  EXPECT_THAT(actions({.actor = "otto"}), ElementsAre("deleteKey"));
  EXPECT_THAT(actions({.subject = "sh"}), ElementsAre("deleteKey"));
  EXPECT_THAT(actions({.result = "refused"}), ElementsAre("deleteKey"));
  EXPECT_THAT(actions({.since = between}), ElementsAre("deleteKey", "cancelEmail"));
  EXPECT_THAT(actions({.until = between}), ElementsAre("createKey", "cancelEmail", "audit.opened"));
  EXPECT_THAT(actions({.limit = 1}), SizeIs(5)) << "page by page";
}

TEST_F(AuditTest, ACursorIsGoodForItsOwnListAlone) {
  AuditChain one = chain(embedded_.engine());
  for (const char* const action : {"a", "b", "c"}) append(one, action, "north");
  AuditReader entries = reader();
  const auto page = entries.list({.tenant = "north", .limit = 2});
  ASSERT_TRUE(page);
  ASSERT_FALSE(page->cursor.empty());
  EXPECT_TRUE(entries.list({.tenant = "north", .cursor = page->cursor}));
  EXPECT_FALSE(entries.list({.tenant = "south", .cursor = page->cursor}));
  EXPECT_FALSE(entries.list({.cursor = page->cursor}));
  EXPECT_FALSE(entries.list({.tenant = "north", .action = "a", .cursor = page->cursor}));
  EXPECT_FALSE(entries.list({.tenant = "north", .cursor = "nonsense"}));
}

TEST_F(AuditTest, AnUnreadableEntryIsTold) {
  AuditChain one = chain(embedded_.engine());
  for (const char* const action : {"a", "b"}) append(one, action);
  item::Item broken = entry_of("a");
  broken.set("result", "perhaps");
  write(broken);
  EXPECT_THAT(actions({.actor = "anna"}), ElementsAre("b"));
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("result"), "2: the entry is missing"));
}

TEST(KnownEntry, HasOneForm) {
  const std::string digest(64, 'a');
  EXPECT_TRUE(parse_known_entry("c0ffee00:12:" + digest));
  const std::vector<std::string> wrong{
      "", "c0ffee00:12", ":1:" + digest, "c:0:" + digest, "c:x:" + digest, "c:1:" + digest + "b", "c:-1:" + digest};
  for (const std::string& text : wrong) EXPECT_FALSE(parse_known_entry(text)) << text;
}

}  // namespace
}  // namespace postino::access

// E-mails that other programs write through the endpoints of several processes on one store.
#include <gmock/gmock.h>

#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"
#include "outbox_store.h"
#include "shared_store.h"

namespace postino::outbox {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

class SharedAdoptionTest : public testing::Test {
 protected:
  SharedAdoptionTest() {
    look_through(*watching_);
    look_through(*second_);
  }

  std::unique_ptr<OutboxProcess> process(std::uint64_t seed, StoreLedgerOptions options = {}) {
    return std::make_unique<OutboxProcess>(store_.engine(), store_.tables(), ledger_policy(), test_start, seed,
                                           store_.retry(), std::move(options));
  }
  std::unique_ptr<OutboxProcess> watching_process() {
    StoreLedgerOptions options;
    options.foreign_writes = endpoint_.log();
    return process(3, std::move(options));
  }
  static void look_through(OutboxProcess& process) {
    while (true) {
      const auto more = process.ledger().look_for_foreign(100);
      ASSERT_TRUE(more) << more.error().message;
      if (!*more) return;
    }
  }
  static void look_for_work(OutboxProcess& process) { ASSERT_TRUE(process.ledger().due(Pipeline::intake, 100, {})); }
  void pass(base::Milliseconds time) {
    for (const auto& each : {watching_.get(), second_.get()}) each->clock().advance(time);
    endpoint_clock_.advance(time);
  }

  // As another program writes it: it knows nothing of versions and queues.
  store::PutItemRequest foreign_put(int number) const {
    store::PutItemRequest put;
    put.table_name = store_.tables().emails;
    put.item = {{"Id", email_id(number)},
                {"Status", meta_status},
                {"Attributes", item::Map{{"Latest", "ACCEPTED"},
                                         {"UpdatedAt", "2026-01-02T03:04:05Z"},
                                         {"Reason", ""},
                                         {"PayloadFilePath", "2026/01/" + email_id(number) + ".json"},
                                         {"EmlFilePath", ""}}}};
    return put;
  }
  std::optional<item::Item> record(int number, std::string_view status) {
    store::GetItemRequest get;
    get.table_name = store_.tables().emails;
    get.key = {{"Id", email_id(number)}, {"Status", status}};
    const auto answer = store_.engine().get_item(get);
    EXPECT_TRUE(answer);
    return answer ? answer->item : std::nullopt;
  }
  bool is_adopted(int number) { return record(number, meta_status).value_or(item::Item()).contains("Version"); }

  // A store that does something else before it lets a write through: others come in between.
  class SlowStore final : public store::ForwardingStore {
   public:
    using ForwardingStore::ForwardingStore;
    using ForwardingStore::put_item;

    bool is_shared() const override { return true; }
    void before_put(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
    store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override {
      if (meanwhile_) std::exchange(meanwhile_, {})();
      return inner().put_item(request);
    }

   private:
    std::function<void()> meanwhile_;
  };

  const std::shared_ptr<base::ManualClock> engine_clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{SpoolChoice::store, engine_clock_};
  base::ManualClock endpoint_clock_{test_start};
  base::SeededRandom random_{1};
  SlowStore slow_{store_.engine()};
  ForeignWrites endpoint_{slow_, store_.tables().emails, endpoint_clock_, random_};
  const std::unique_ptr<OutboxProcess> watching_ = watching_process();  // of the endpoint
  const std::unique_ptr<OutboxProcess> second_ = process(4);
};

TEST_F(SharedAdoptionTest, TheProcessThatMadeTheWriteAdoptsItAtOnceThoughTheIndexLags) {
  watching_->store().stop_index();
  ASSERT_TRUE(endpoint_.put_item(foreign_put(1)));
  look_for_work(*watching_);
  EXPECT_TRUE(is_adopted(1));
  EXPECT_FALSE(record(1, mark_status));
}

TEST_F(SharedAdoptionTest, AnotherProcessTakesNoMarkAwayWhileTheWriteIsUnderWay) {
  slow_.before_put([&] {
    ASSERT_TRUE(record(1, mark_status));
    pass(seconds(31));
    look_for_work(*second_);
    EXPECT_TRUE(second_->ledger().find(email_id(1)));
    EXPECT_TRUE(record(1, mark_status)) << "who else would know of the write?";
  });
  ASSERT_TRUE(endpoint_.put_item(foreign_put(1)));
  look_for_work(*watching_);
  EXPECT_TRUE(is_adopted(1));
}

TEST_F(SharedAdoptionTest, TheMarkOfAnotherProcessIsNotTakenForThatOfAnEndedWrite) {
  SlowStore slow(store_.engine());
  ForeignWrites another(slow, store_.tables().emails, endpoint_clock_, random_);
  ASSERT_TRUE(endpoint_.put_item(foreign_put(1)));
  slow.before_put([&] {
    look_for_work(*watching_);
    EXPECT_TRUE(is_adopted(1));
    EXPECT_TRUE(record(1, mark_status)) << "the write of the other process is yet to come";
  });
  store::PutItemRequest line;
  line.table_name = store_.tables().emails;
  line.item = {{"Id", email_id(1)}, {"Status", "ACCEPTED"}, {"Attributes", item::Map{{"Reason", "theirs"}}}};
  ASSERT_TRUE(another.put_item(line));
  pass(minutes(2));
  look_for_work(*second_);
  EXPECT_FALSE(record(1, mark_status));
  EXPECT_TRUE(record(1, "ACCEPTED")->find("Attributes")->as<item::Map>().contains("Version"));
}

TEST_F(SharedAdoptionTest, WhatAProcessHasWrittenThatIsGoneIsAdoptedByAnother) {
  ASSERT_TRUE(endpoint_.put_item(foreign_put(1)));
  look_for_work(*second_);
  EXPECT_FALSE(is_adopted(1)) << "it may not be all";
  pass(minutes(2));
  look_for_work(*second_);
  EXPECT_TRUE(is_adopted(1));
  EXPECT_FALSE(record(1, mark_status));
}

TEST_F(SharedAdoptionTest, AnUnfinishedEmailOfAnotherProgramDoesNotExpire) {
  store::PutItemRequest put = foreign_put(1);
  put.item.set("TTL", base::epoch_seconds(test_start + minutes(10)));
  ASSERT_TRUE(endpoint_.put_item(put));
  look_for_work(*watching_);
  ASSERT_TRUE(is_adopted(1));
  EXPECT_FALSE(record(1, meta_status)->contains("TTL"));
}

// Without a ledger in its process an endpoint leaves no marks: all e-mails are looked at once more.
TEST_F(SharedAdoptionTest, EveryWriteOfAProcessWithoutALedgerMakesTheOthersLookAgain) {
  ForeignWrites unwatched(slow_, store_.tables().emails, endpoint_clock_, random_, ForeignWrites::Watch::note);
  for (const int number : {1, 2}) {
    ASSERT_TRUE(unwatched.put_item(foreign_put(number)));
    pass(minutes(11));
    look_through(*second_);
    EXPECT_TRUE(is_adopted(number)) << number;
  }
}

TEST_F(SharedAdoptionTest, ALookThatWasDisturbedBeginsAnew) {
  ForeignWrites unwatched(slow_, store_.tables().emails, endpoint_clock_, random_, ForeignWrites::Watch::note);
  for (int number = 1; number <= 5; ++number) ASSERT_TRUE(unwatched.put_item(foreign_put(number)));
  pass(minutes(11));
  ASSERT_TRUE(*second_->ledger().look_for_foreign(4));
  // Whatever the look has seen so far, it has not seen this.
  for (int number = 6; number <= 12; ++number) ASSERT_TRUE(unwatched.put_item(foreign_put(number)));
  look_through(*second_);
  pass(minutes(11));
  look_through(*second_);
  for (int number = 1; number <= 12; ++number) EXPECT_TRUE(is_adopted(number)) << number;
}

TEST_F(SharedAdoptionTest, OneProcessLooksThroughAllEmailsForTheOthers) {
  ForeignWrites unwatched(slow_, store_.tables().emails, endpoint_clock_, random_, ForeignWrites::Watch::note);
  for (int number = 1; number <= 5; ++number) ASSERT_TRUE(unwatched.put_item(foreign_put(number)));
  pass(minutes(11));
  ASSERT_TRUE(*second_->ledger().look_for_foreign(4));
  watching_->store().count_anew();
  EXPECT_FALSE(*watching_->ledger().look_for_foreign(4));
  EXPECT_EQ(watching_->store().requests(), 1) << "the note says that another one is at it";
}

}  // namespace
}  // namespace postino::outbox

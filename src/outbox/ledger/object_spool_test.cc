#include "outbox/ledger/object_spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/temporary_directory.h"
#include "objects/memory_objects_testing.h"
#include "objects/written_files_testing.h"
#include "outbox/ledger/spool_names.h"

namespace postino::outbox {
namespace {

using base::ErrorCode;
using objects::error_text;
using std::chrono::hours;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr base::TimePoint bucket_start{base::Milliseconds(1'794'735'000'000)};  // 2026-11-15T09:30:00Z
constexpr base::Milliseconds kept_in_bucket = hours(24 * 30);
const std::string spooled_id = "0b7ad2a3-6b43-4c5d-9f4e-1d7f4d0c2a11";

// The bucket stays when the process that uses it ends.
class SharedObjects final : public objects::ObjectStore {
 public:
  explicit SharedObjects(objects::MemoryObjects& inner) : inner_(inner) {}

  base::Result<void> put(const std::string& name, std::string_view bytes) override { return inner_.put(name, bytes); }
  base::Result<std::string> get(const std::string& name) override { return inner_.get(name); }
  base::Result<void> remove(const std::string& name) override { return inner_.remove(name); }
  base::Result<objects::ObjectPage> list(const std::string& prefix, const std::string& after, int limit) override {
    return inner_.list(prefix, after, limit);
  }
  const std::string& bucket() const override { return inner_.bucket(); }

 private:
  objects::MemoryObjects& inner_;
};

class ObjectSpoolTest : public testing::Test {
 protected:
  std::unique_ptr<ObjectSpool> opened(objects::MemoryObjects& bucket, const std::string& prefix = "spool/emails") {
    return std::make_unique<ObjectSpool>(std::make_unique<SharedObjects>(bucket), prefix, kept_in_bucket, random_);
  }
  static SpoolObject object(std::string bytes, SpoolKind kind = SpoolKind::payload, std::string id = spooled_id) {
    return {kind, std::move(id), bucket_start, std::move(bytes), bucket_start + kept_in_bucket};
  }
  std::string written(const SpoolObject& object) {
    const auto path = spool_->write(object);
    EXPECT_TRUE(path) << error_text(path);
    return path.value_or("");
  }
  ErrorCode error_of_reading(const std::string& path) {
    const auto read = spool_->read(path);
    EXPECT_FALSE(read);
    return read ? ErrorCode::conflict : read.error().code;
  }
  static bool needs_none(const std::string&) { return false; }
  // Until all were looked at.
  void sweep(const KeptSpool::IsNeeded& is_needed = needs_none) {
    for (bool more = true; more;) {
      const auto swept = spool_->sweep_some(clock_.now(), is_needed);
      ASSERT_TRUE(swept) << error_text(swept);
      more = *swept;
    }
  }
  std::set<std::string> contents() const {
    std::set<std::string> names = bucket_.names();
    names.erase("spool/emails/POSTINO-SPOOL");
    return names;
  }

  base::ManualClock clock_{bucket_start};
  base::SeededRandom random_{1};
  base::TemporaryDirectory directory_;
  objects::MemoryObjects bucket_{clock_};
  std::unique_ptr<ObjectSpool> spool_ = opened(bucket_);
};

TEST_F(ObjectSpoolTest, KeepsWhatWasWritten) {
  const std::string first = written(object("one"));
  EXPECT_THAT(first, testing::MatchesRegex("2026/11/" + spooled_id + "-[0-9a-f]{16}00000003\\.json"));
  const std::string second = written(object("two"));
  EXPECT_NE(first, second) << "nothing is overwritten";
  EXPECT_EQ(spool_->read(first).value_or("-"), "one");
  EXPECT_EQ(spool_->read(second).value_or("-"), "two");
  EXPECT_THAT(written(object("m", SpoolKind::message)), testing::EndsWith(".eml"));
  EXPECT_THAT(contents(), testing::Each(testing::StartsWith("spool/emails/2026/11/")));
  EXPECT_EQ(id_in_spool_path(first), spooled_id);
}

TEST_F(ObjectSpoolTest, AnotherServerReadsIt) {
  const std::string path = written(object("one"));
  const auto other = opened(bucket_);
  EXPECT_EQ(other->read(path).value_or("-"), "one");
  EXPECT_EQ(other->read("s3://test-bucket/spool/emails/" + path).value_or("-"), "one") << "by its address, too";
}

TEST_F(ObjectSpoolTest, TheNamesAreAsTheyAreDescribed) {
  base::SeededRandom random(7);
  const std::string with_size = new_spool_name(object("hello"), SizeInName::told, random);
  // The sum is the beginning of the SHA-256 of "hello", the size is hexadecimal.
  EXPECT_THAT(with_size, testing::MatchesRegex("2026/11/" + spooled_id + "-[0-9a-f]{8}2cf24dba00000005\\.json"));
  EXPECT_EQ(size_in_spool_name(with_size), 5U);
  const std::string without = new_spool_name(object("hello"), SizeInName::left_out, random);
  EXPECT_THAT(without, testing::MatchesRegex("2026/11/" + spooled_id + "-[0-9a-f]{8}2cf24dba\\.json"));
  EXPECT_EQ(size_in_spool_name(without), std::nullopt);
  for (const std::string& name : {with_size, without}) {
    EXPECT_TRUE(is_spool_name(name));
    EXPECT_FALSE(contradicts_spool_name(name, "hello"));
    EXPECT_TRUE(contradicts_spool_name(name, "hellO"));
  }
  EXPECT_FALSE(is_spool_name("2026/11/" + spooled_id + ".json")) << "another program's";
}

TEST_F(ObjectSpoolTest, DamagedContentsAreNotGivenOut) {
  const std::string path = written(object("pay 1000 EUR"));
  for (const char* const damaged : {"pay 9000 EUR", "pay 1", ""}) {
    ASSERT_TRUE(bucket_.put("spool/emails/" + path, damaged));
    EXPECT_EQ(error_of_reading(path), ErrorCode::corrupt) << damaged;
  }
  EXPECT_EQ(spool_->problem(), std::nullopt) << "the others are well";
}

TEST_F(ObjectSpoolTest, WhatIsGoneIsNotFound) {
  const std::string path = written(object("one"));
  ASSERT_TRUE(spool_->remove(path));
  EXPECT_EQ(error_of_reading(path), ErrorCode::not_found);
  EXPECT_EQ(spool_->problem(), std::nullopt);
}

// Whoever believed that would give up all e-mails.
TEST_F(ObjectSpoolTest, InABucketWithoutItsMarkerNothingIsGoneForGood) {
  const std::string path = written(object("one"));
  for (const std::string& name : bucket_.names()) ASSERT_TRUE(bucket_.remove(name));
  EXPECT_EQ(error_of_reading(path), ErrorCode::io);
  EXPECT_THAT(spool_->problem().value_or(""), HasSubstr("s3://test-bucket/spool/emails/POSTINO-SPOOL is gone"));
}

TEST_F(ObjectSpoolTest, WhileTheBucketIsAwayWorkWaits) {
  const std::string path = written(object("one"));
  for (const ErrorCode code : {ErrorCode::io, ErrorCode::exhausted, ErrorCode::corrupt}) {
    bucket_.set_outage(true, code);
    EXPECT_EQ(error_of_reading(path), ErrorCode::io);
    const auto refused = spool_->write(object("two"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::io);
    EXPECT_THAT(spool_->problem().value_or(""), HasSubstr("s3://test-bucket/spool/emails"));
    std::string metrics;
    spool_->append_metrics(metrics);
    EXPECT_THAT(metrics, HasSubstr("postino_spool_writes_refused 1"));
    spool_->look_after_problem();
    EXPECT_NE(spool_->problem(), std::nullopt);
    bucket_.set_outage(false);
    spool_->look_after_problem();
    EXPECT_EQ(spool_->problem(), std::nullopt) << "without another e-mail";
  }
  EXPECT_EQ(spool_->read(path).value_or("-"), "one");
  EXPECT_THAT(contents(), SizeIs(1));
}

TEST_F(ObjectSpoolTest, MemoryIsAskedForBeforeAnythingIsRead) {
  const std::string path = written(object("twelve bytes"));
  ASSERT_TRUE(bucket_.put("spool/emails/theirs.json", "of another program"));
  const int before = bucket_.gets();
  for (const auto& [name, size] : std::map<std::string, std::size_t>{{path, 12}, {"theirs.json", 18}}) {
    std::size_t asked = 0;
    const auto read = spool_->read_if(name, [&](std::size_t bytes) {
      asked = bytes;
      return false;
    });
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::exhausted);
    EXPECT_EQ(asked, size);
  }
  EXPECT_EQ(bucket_.gets(), before);
  EXPECT_EQ(spool_->read("theirs.json").value_or("-"), "of another program");
  EXPECT_EQ(error_of_reading("thei"), ErrorCode::not_found);
  EXPECT_EQ(error_of_reading("../other/theirs.json"), ErrorCode::invalid);
}

TEST_F(ObjectSpoolTest, ServersKnowTheirSpoolAgain) {
  ASSERT_TRUE(spool_->be_noted_in(directory_.path()));
  ASSERT_TRUE(opened(bucket_)->be_noted_in(directory_.path()));
  const auto other_place = opened(bucket_, "spool/others")->be_noted_in(directory_.path());
  EXPECT_EQ(other_place.error().code, ErrorCode::invalid);
  EXPECT_THAT(other_place.error().message, HasSubstr("not the one that was used before"));
}

TEST_F(ObjectSpoolTest, AnEmptyBucketIsNotTakenForTheOneThatWasUsedBefore) {
  ASSERT_TRUE(spool_->be_noted_in(directory_.path()));
  objects::MemoryObjects empty(clock_);
  const auto mistaken = opened(empty);
  ASSERT_TRUE(mistaken->be_noted_in(directory_.path()));
  EXPECT_THAT(mistaken->problem().value_or(""), HasSubstr("is it the right bucket?"));
  EXPECT_FALSE(mistaken->write(object("one")));
  EXPECT_EQ(mistaken->read("2026/11/" + spooled_id + ".json").error().code, ErrorCode::io);
  EXPECT_THAT(empty.names(), IsEmpty());
}

TEST_F(ObjectSpoolTest, AServerStartsWhileTheBucketIsAway) {
  bucket_.set_outage(true);
  ASSERT_TRUE(spool_->be_noted_in(directory_.path()));
  EXPECT_NE(spool_->problem(), std::nullopt);
  bucket_.set_outage(false);
  spool_->look_after_problem();
  EXPECT_EQ(spool_->problem(), std::nullopt);
  EXPECT_EQ(spool_->read(written(object("one"))).value_or("-"), "one");
  EXPECT_TRUE(std::filesystem::exists(directory_.path() / "SPOOL"));
}

TEST_F(ObjectSpoolTest, WhatNoEmailNeedsAnyMoreGoesWhenItsTimeIsOver) {
  const std::string needed = "1b7ad2a3-6b43-4c5d-9f4e-1d7f4d0c2a11";
  written(object("one"));
  const std::string kept = written(object("two", SpoolKind::payload, needed));
  ASSERT_TRUE(bucket_.put("spool/emails/2026/11/theirs.json", "of another program"));
  const auto needs = [&](const std::string& id) { return id == needed; };
  clock_.advance(kept_in_bucket);
  sweep(needs);
  EXPECT_THAT(contents(), SizeIs(3)) << "not a moment too soon";
  clock_.advance(base::Milliseconds(1));
  sweep(needs);
  EXPECT_THAT(contents(), testing::ElementsAre("spool/emails/" + kept, "spool/emails/2026/11/theirs.json"));
}

TEST_F(ObjectSpoolTest, ASweepGoesThroughAllPages) {
  for (int i = 0; i < 250; ++i) written(object(std::to_string(i)));
  clock_.advance(kept_in_bucket + hours(1));
  const std::string young = written(object("young"));
  const auto first = spool_->sweep_some(clock_.now(), needs_none);
  ASSERT_TRUE(first);
  EXPECT_TRUE(*first) << "one page at a time";
  EXPECT_GT(contents().size(), 100U);
  sweep();
  EXPECT_THAT(contents(), testing::ElementsAre("spool/emails/" + young));
}

TEST_F(ObjectSpoolTest, ObjectsOfLaterMonthsAreNotLookedAt) {
  for (int i = 0; i < 250; ++i) {
    SpoolObject later = object(std::to_string(i));
    later.created = bucket_start + hours(24 * 62);
    written(later);
  }
  clock_.advance(hours(24 * 31));
  const auto swept = spool_->sweep_some(clock_.now(), needs_none);
  ASSERT_TRUE(swept);
  EXPECT_FALSE(*swept) << "the first page tells that all are younger";
}

TEST_F(ObjectSpoolTest, NothingGoesByAClockThatIsFarFromTheBuckets) {
  written(object("one"));
  clock_.advance(kept_in_bucket + hours(1));
  const auto swept = spool_->sweep_some(clock_.now() + hours(25), needs_none);
  ASSERT_FALSE(swept);
  EXPECT_THAT(swept.error().message, HasSubstr("clock"));
  EXPECT_THAT(contents(), SizeIs(1));
}

}  // namespace
}  // namespace postino::outbox

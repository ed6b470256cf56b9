#include "outbox/work/direct_dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <cstdio>

#include "base/temporary_directory.h"
#include "outbox/ledger/memory_ledger_testing.h"
#include "outbox/work/worker_testing.h"

namespace postino::outbox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// So many senders are free.
class CountedPlaces final : public WorkerPlaces {
 public:
  std::optional<WorkerPlace> reserve(const Email& email) override {
    if (free == 0) return std::nullopt;
    --free;
    return WorkerPlace{{email.id}};
  }
  void adopt(std::vector<Arrival> arrivals) override {
    for (const Arrival& arrival : arrivals) {
      EXPECT_THAT(arrival.place.destinations, ElementsAre(arrival.email.id)) << "the place that was kept for it";
      adopted.push_back(arrival.email.id);
    }
  }
  void release(const std::vector<WorkerPlace>& places) override {
    for (const WorkerPlace& place : places) released.push_back(place.destinations.front());
  }

  int free = 0;
  std::vector<std::string> adopted;   // ids
  std::vector<std::string> released;  // ids of those that places were kept for
};

class DirectDispatchTest : public testing::Test {
 protected:
  DirectDispatchTest() { places_.free = 10; }

  static Payload payload() {
    auto parsed = parse_payload(R"({"from":"ann@example.com","to":"bob@example.com","subject":"s","body_text":"b"})");
    CHECK(parsed.has_value());
    return *std::move(parsed);
  }
  NewEmail handed_in(const std::string& id = "1") { return {accepted(id, policy_), to_json(payload())}; }
  // As far as direct dispatch takes it.
  NewEmail taken(DirectDispatch::Batch& batch, const std::string& id) {
    NewEmail email = handed_in(id);
    batch.take(email, payload(), test_start);
    return email;
  }
  // The ledger has stored it.
  static AcceptOutcome stored(const NewEmail& email) {
    const Email& after = email.change.after;
    return {after.id, std::nullopt, "", after};
  }
  static AcceptOutcome refused(const NewEmail& email) {
    return {email.change.after.id, AcceptError::duplicated_id, "the id exists", std::nullopt};
  }
  static std::vector<std::string> history(const NewEmail& email) {
    std::vector<std::string> states;
    for (const NewLine& line : email.change.lines) states.push_back(line.entry.status);
    return states;
  }
  // The test fails when something has happened to the e-mail.
  void expect_not_taken(NewEmail email, Payload payload, DirectDispatch& dispatch) {
    {
      DirectDispatch::Batch batch(dispatch);
      batch.take(email, std::move(payload), test_start);
      EXPECT_EQ(email.change.after.state, State::accepted);
      EXPECT_THAT(email.change.lines, SizeIs(1));
      EXPECT_EQ(email.change.message, std::nullopt);
      batch.hand_over({stored(email)});
    }
    EXPECT_THAT(places_.adopted, IsEmpty());
    EXPECT_EQ(places_.free, 10);
  }

  const Policy policy_;
  MemorySpool spool_;
  const std::unique_ptr<Intake> intake_ = *Intake::create(spool_, nullptr, {});
  CountedPlaces places_;
  const std::shared_ptr<base::MemoryBudget> budget_ = std::make_shared<base::MemoryBudget>(1'000);
  MessageMemory memory_{budget_};
  FreshMessages fresh_;
  DirectDispatch dispatch_{*intake_, places_, fresh_, policy_, "process 7", &memory_};
};

TEST_F(DirectDispatchTest, IntoTheHandsOfASender) {
  DirectDispatch::Batch batch(dispatch_);
  const NewEmail email = taken(batch, "1");
  EXPECT_EQ(email.change.after.state, State::processing);
  EXPECT_EQ(email.change.after.owner, "process 7");
  EXPECT_EQ(email.change.after.due_at, test_start + policy_.lease);
  EXPECT_THAT(history(email), ElementsAre("ACCEPTED", "INTAKING", "READY", "PROCESSING")) << "as on the long way";
  EXPECT_EQ(email.change.before.version, 0) << "one commit";
  ASSERT_TRUE(email.change.message);
  EXPECT_THAT(*email.change.message, HasSubstr("Subject: s\r\n"));

  EXPECT_THAT(places_.adopted, IsEmpty()) << "it is not on record yet";
  batch.hand_over({stored(email)});
  EXPECT_THAT(places_.adopted, ElementsAre("1"));
  const std::optional<FreshMessage> fresh = fresh_.take("1");
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->text, email.change.message) << "the sender need not read it";
  EXPECT_EQ(budget_->taken(), fresh->text.size()) << "it counts as long as it is there";
}

TEST_F(DirectDispatchTest, WhenNoSenderIsFreeItIsReady) {
  places_.free = 1;
  DirectDispatch::Batch batch(dispatch_);
  const NewEmail first = taken(batch, "1");
  const NewEmail second = taken(batch, "2");
  EXPECT_EQ(first.change.after.state, State::processing);
  EXPECT_EQ(second.change.after.state, State::ready);
  EXPECT_THAT(history(second), ElementsAre("ACCEPTED", "INTAKING", "READY"));
  EXPECT_TRUE(second.change.message);
  batch.hand_over({stored(first), stored(second)});
  EXPECT_THAT(places_.adopted, ElementsAre("1"));
  EXPECT_THAT(places_.released, IsEmpty());
  EXPECT_FALSE(fresh_.take("2")) << "no sender comes for it";
}

TEST_F(DirectDispatchTest, APlaceForAnEmailThatWasNotAcceptedIsFreeAgain) {
  DirectDispatch::Batch batch(dispatch_);
  const NewEmail first = taken(batch, "1");
  const NewEmail second = taken(batch, "2");
  batch.hand_over({refused(first), stored(second)});
  EXPECT_THAT(places_.adopted, ElementsAre("2"));
  EXPECT_THAT(places_.released, ElementsAre("1"));
  EXPECT_FALSE(fresh_.take("1"));
  EXPECT_TRUE(fresh_.take("2"));
}

TEST_F(DirectDispatchTest, PlacesAreFreeAgainWhenThereIsNoAcceptance) {
  {
    DirectDispatch::Batch batch(dispatch_);
    taken(batch, "1");
    taken(batch, "2");
  }
  EXPECT_THAT(places_.adopted, IsEmpty());
  EXPECT_THAT(places_.released, ElementsAre("1", "2"));
  EXPECT_FALSE(fresh_.take("1"));
}

TEST_F(DirectDispatchTest, PlacesAreGivenBackOnce) {
  {
    DirectDispatch::Batch batch(dispatch_);
    const NewEmail email = taken(batch, "1");
    batch.hand_over({stored(email)});
    batch.hand_over({stored(email)});
  }
  EXPECT_THAT(places_.adopted, SizeIs(1));
  EXPECT_THAT(places_.released, IsEmpty());
}

TEST_F(DirectDispatchTest, OfTwoWithTheSameIdOneIsTaken) {
  DirectDispatch::Batch batch(dispatch_);
  const NewEmail first = taken(batch, "1");
  const NewEmail second = taken(batch, "1");
  EXPECT_EQ(second.change.after.state, State::ready);
  batch.hand_over({stored(first), refused(second)});
  EXPECT_THAT(places_.adopted, ElementsAre("1"));
  EXPECT_EQ(places_.free, 9);
}

TEST_F(DirectDispatchTest, WhatTakesTimeIsNotTaken) {
  NewEmail large = handed_in();
  large.payload.append((128 << 10) + 1 - large.payload.size(), ' ');
  expect_not_taken(large, payload(), dispatch_);

  Payload with_file = payload();
  with_file.attachments.push_back({"", "a.txt", "text/plain", "YQ==", true});
  expect_not_taken(handed_in(), with_file, dispatch_);
}

TEST_F(DirectDispatchTest, TheLargestPayloadThatIsTaken) {
  NewEmail email = handed_in();
  email.payload.append((128 << 10) - email.payload.size(), ' ');
  DirectDispatch::Batch batch(dispatch_);
  batch.take(email, payload(), test_start);
  EXPECT_EQ(email.change.after.state, State::processing);
}

TEST_F(DirectDispatchTest, WhatIsToBeSignedIsNotTaken) {
  const base::TemporaryDirectory directory;
  const std::string path = (directory.path() / "key.pem").string();
  EVP_PKEY* const key = EVP_RSA_gen(1024);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  EVP_PKEY_free(key);
  const auto signer = mail::DkimSigner::create({"example.com", "s", path});
  ASSERT_TRUE(signer) << signer.error().message;
  const auto signing = Intake::create(spool_, signer->get(), {});
  ASSERT_TRUE(signing);
  DirectDispatch dispatch(**signing, places_, fresh_, policy_, "process 7");
  expect_not_taken(handed_in(), payload(), dispatch);
}

TEST_F(DirectDispatchTest, WhatIsForLaterIsNotTaken) {
  NewEmail email = handed_in();
  email.change.after.send_at = test_start + base::Milliseconds(1);
  expect_not_taken(email, payload(), dispatch_);

  email.change.after.send_at = test_start;
  DirectDispatch::Batch batch(dispatch_);
  batch.take(email, payload(), test_start);
  EXPECT_EQ(email.change.after.state, State::processing) << "its time has come";
}

TEST_F(DirectDispatchTest, WhatCannotBeAMessageIsLeftToIntake) {
  Payload without_body = payload();
  without_body.body_text.clear();
  expect_not_taken(handed_in(), without_body, dispatch_);
}

}  // namespace
}  // namespace postino::outbox

#include "outbox/work/pipelines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "base/temporary_directory.h"
#include "net/certificates_testing.h"
#include "net/raw_server_testing.h"
#include "outbox/ledger/memory_ledger_testing.h"
#include "outbox/ledger/memory_suppressions_testing.h"
#include "outbox/work/worker_testing.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

// Everything arrives, once the gate lets it through.
class GatedTransport final : public Transport {
 public:
  explicit GatedTransport(Gate& gate) : gate_(gate) {}
  smtp::SendResult deliver(const Delivery& delivery, const smtp::Session::BeforeEnd& before_end) override {
    gate_.pass();
    EXPECT_TRUE(before_end());
    return delivered(delivery.email);
  }

 private:
  Gate& gate_;
};

// The loops do not look for themselves, and lost workers are looked for once, unless a test says otherwise.
class PipelinesConcurrentTest : public testing::Test {
 protected:
  PipelinesConcurrentTest() {
    gate_.open();
    options_.rescue_interval = hours(1);
    options_.figures_patience = hours(1);
    for (PipelineOptions* loop : {&options_.intake, &options_.send, &options_.callback}) loop->poll = hours(1);
  }

  void call_back() {
    policy_.default_callback_url = "http://127.0.0.1:" + std::to_string(receiver_.port()) + "/outcome";
  }
  std::unique_ptr<Pipelines> make(std::function<void()> every_second = [] {}) {
    return std::make_unique<Pipelines>(Pipelines::Context{ledger_, policy_, clock_, random_, signal_, "process 7"},
                                       Pipelines::Workers{*intake_, sender_, *callback_sender_}, options_,
                                       std::move(every_second));
  }
  // All loops have looked, and found what was there.
  std::unique_ptr<Pipelines> start() {
    auto pipelines = make();
    pipelines->start();
    EXPECT_TRUE(ledger_.await_looks(3));
    return pipelines;
  }
  static PipelineLoop::Instant in_a_while() { return std::chrono::steady_clock::now() + std::chrono::minutes(2); }

  Change accepted_one(const std::string& id) const { return accepted(id, policy_); }
  static std::string payload() {
    return R"({"from":"ann@example.com","to":"bob@example.com","subject":"s","body_text":"b"})";
  }

  Policy policy_;
  base::ManualClock clock_{test_start};
  MemoryLedger ledger_{policy_, clock_};
  base::SeededRandom random_{1};
  WorkSignal signal_;
  Gate gate_;  // of the transport
  PipelinesOptions options_;
  net::RawServer receiver_{[](net::RawPeer& peer) {
    peer.receive_until("}");
    peer.send("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  }};

  // The authorities of the system would take long to read.
  const base::TemporaryDirectory directory_;
  const net::TestAuthority authority_{directory_.path()};

  MemorySuppressions suppressions_;
  GatedTransport transport_{gate_};
  const std::unique_ptr<Intake> intake_ = *Intake::create(ledger_.spool(), nullptr, {});
  const Sender sender_{ledger_, suppressions_, transport_, policy_, clock_, ""};
  const std::unique_ptr<CallbackSender> callback_sender_ = *CallbackSender::create(
      policy_, clock_, *WebhookSigner::create(""), {.certificate_file = authority_.certificate_file()});
};

TEST_F(PipelinesConcurrentTest, AnEmailGoesAllTheWay) {
  call_back();
  const auto pipelines = start();
  signal_.announce(ledger_.put(accepted_one("1"), payload()));
  EXPECT_TRUE(ledger_.await_state("1", State::sent_acknowledged)) << "each step wakes the next loop";
  EXPECT_EQ(receiver_.connections(), 1);
  pipelines->stop(in_a_while());
  EXPECT_EQ(ledger_.limits().size(), 5U)
      << "the first look of each loop, one of intake and one of sending: callers get "
         "it from the senders";
}

TEST_F(PipelinesConcurrentTest, EachKindOfWorkHasItsLoop) {
  call_back();
  const auto pipelines = start();
  ledger_.put(ready("1", policy_));
  ledger_.put(happens(processing("2", policy_), event::MessageLost{{}, "no message"}, policy_));
  ledger_.put(happens(accepted_one("3"), event::PayloadRejected{"no recipient"}, policy_));
  ledger_.put(accepted_one("4"), "no payload");

  signal_.announce(Pipeline::callback);
  EXPECT_TRUE(ledger_.await_state("2", State::failed_acknowledged));
  EXPECT_TRUE(ledger_.await_state("3", State::invalid_acknowledged));
  EXPECT_EQ(ledger_.email("1").state, State::ready);
  EXPECT_EQ(ledger_.email("4").state, State::accepted);
  signal_.announce(Pipeline::send);
  EXPECT_TRUE(ledger_.await_state("1", State::sent_acknowledged));
  EXPECT_EQ(ledger_.email("4").state, State::accepted);
  signal_.announce(Pipeline::intake);
  EXPECT_TRUE(ledger_.await_state("4", State::invalid_acknowledged));
}

TEST_F(PipelinesConcurrentTest, AcceptedIntoTheHandsOfASender) {
  const auto pipelines = start();
  const Email email = ledger_.put(processing("1", policy_));
  const auto place = pipelines->senders().reserve(email);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->destinations, DestinationNames{"example.com"});
  pipelines->senders().adopt({{email, *place}});
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
}

TEST_F(PipelinesConcurrentTest, WhatALostWorkerHadIsRescuedAndSent) {
  ledger_.put(processing("1", policy_));
  clock_.advance(policy_.lease + milliseconds(1));
  const auto pipelines = start();
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
  pipelines->stop(in_a_while());
  std::string metrics;
  pipelines->append_metrics(metrics, false);
  EXPECT_THAT(metrics, HasSubstr("postino_outbox_rescues_total{state=\"PROCESSING\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("postino_outbox_transitions_total{state=\"SENT\"} 1\n"));
}

TEST_F(PipelinesConcurrentTest, LooksForLostWorkersAgainAndAgain) {
  ledger_.put(processing("1", policy_));
  options_.rescue_interval = milliseconds(1);
  std::atomic<int> calls = 0;
  const auto pipelines = make([&] {
    if (++calls <= 7) clock_.advance(seconds(5));
  });
  pipelines->start();
  EXPECT_TRUE(ledger_.await_state("1", State::sent)) << "its lease of half a minute has ended meanwhile";
  EXPECT_GE(calls, 7);
}

TEST_F(PipelinesConcurrentTest, TheLeaseIsKeptForAsLongAsTheWorkTakes) {
  Gate gate;
  GatedTransport slow(gate);
  policy_.lease = milliseconds(60);  // looks after the leases every ten milliseconds
  const Sender sender(ledger_, suppressions_, slow, policy_, clock_, "");
  Pipelines pipelines({ledger_, policy_, clock_, random_, signal_, "process 7"}, {*intake_, sender, *callback_sender_},
                      options_, [] {});
  ledger_.put(ready("1", policy_));
  pipelines.start();
  EXPECT_TRUE(gate.await(1));
  clock_.advance(milliseconds(50));
  EXPECT_TRUE(ledger_.await([&] { return !ledger_.amendments().empty(); }));
  EXPECT_EQ(ledger_.email("1").due_at, test_start + milliseconds(110));
  gate.open();
  EXPECT_TRUE(ledger_.await_state("1", State::sent));
}

TEST_F(PipelinesConcurrentTest, StopFinishesWhatIsUnderWay) {
  Gate gate;
  GatedTransport slow(gate);
  const Sender sender(ledger_, suppressions_, slow, policy_, clock_, "");
  Pipelines pipelines({ledger_, policy_, clock_, random_, signal_, "process 7"}, {*intake_, sender, *callback_sender_},
                      options_, [] {});
  ledger_.put(ready("1", policy_));
  pipelines.start();
  EXPECT_TRUE(gate.await(1));
  std::thread stopping([&] { pipelines.stop(in_a_while()); });
  gate.open();
  stopping.join();
  EXPECT_EQ(ledger_.email("1").state, State::sent);

  signal_.announce(ledger_.put(ready("2", policy_)));
  pipelines.stop(in_a_while());
  EXPECT_FALSE(pipelines.senders().reserve(ledger_.email("2")));
  EXPECT_EQ(ledger_.email("2").state, State::ready) << "that is work for another process";
}

TEST_F(PipelinesConcurrentTest, StopDoesNotWaitLongerForTheLedgerThanItMay) {
  ledger_.put(ready("1", policy_));
  ledger_.fail_moves_of("1");
  const auto pipelines = make();
  pipelines->start();
  EXPECT_TRUE(ledger_.await([&] { return ledger_.refused_moves() > 0; }));
  pipelines->stop(PipelineLoop::Instant());
  EXPECT_EQ(ledger_.email("1").state, State::processing) << "the rescuer finds it";
}

TEST_F(PipelinesConcurrentTest, NothingIsAnnouncedToThemAfterTheirEnd) {
  start().reset();
  signal_.announce(ledger_.put(ready("1", policy_)));
  EXPECT_EQ(ledger_.email("1").state, State::ready);
}

TEST_F(PipelinesConcurrentTest, NeedNotBeStarted) {
  const auto pipelines = make();
  signal_.announce(ledger_.put(ready("1", policy_)));
  EXPECT_EQ(ledger_.email("1").state, State::ready);
}

TEST_F(PipelinesConcurrentTest, MetricsOfTheLedgerAreThereWhenItIsAsked) {
  const auto pipelines = make();
  ledger_.put(ready("1", policy_));
  clock_.advance(milliseconds(2'500));
  std::string not_asked;
  pipelines->append_metrics(not_asked, false);
  EXPECT_THAT(not_asked, Not(HasSubstr("postino_outbox_emails{")));
  EXPECT_THAT(not_asked, HasSubstr("postino_outbox_transitions_total{state=\"READY\"} 0\n"));
  std::string asked;
  pipelines->append_metrics(asked, true);
  EXPECT_THAT(asked, HasSubstr("postino_outbox_emails{state=\"READY\"} 1\n"));
  EXPECT_THAT(asked, HasSubstr("postino_outbox_queue_age_seconds{pipeline=\"send\"} 2.500000\n"));
  EXPECT_THAT(asked, HasSubstr("postino_outbox_queue_age_seconds{pipeline=\"intake\"} 0.000000\n"));
}

}  // namespace
}  // namespace postino::outbox

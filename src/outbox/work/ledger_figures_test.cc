#include "outbox/work/ledger_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "outbox/ledger/memory_ledger_testing.h"
#include "outbox/work/worker_testing.h"

namespace postino::outbox {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::IsEmpty;

class LedgerFiguresConcurrentTest : public testing::Test {
 protected:
  static std::string text_of(LedgerFigures& figures) {
    std::string text;
    figures.append_to(text);
    return text;
  }

  Policy policy_;
  base::ManualClock clock_{test_start};
  MemoryLedger ledger_{policy_, clock_};
};

TEST_F(LedgerFiguresConcurrentTest, SayHowManyEmailsThereAreAndHowLongTheyWait) {
  LedgerFigures figures(ledger_, clock_, hours(1));
  ledger_.put(ready("1", policy_));
  clock_.advance(milliseconds(2'500));
  const std::string text = text_of(figures);
  EXPECT_THAT(text, HasSubstr("postino_outbox_emails{state=\"READY\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("postino_outbox_queue_age_seconds{pipeline=\"send\"} 2.500000\n"));
  EXPECT_THAT(text, HasSubstr("postino_outbox_figures_age_seconds"));
}

TEST_F(LedgerFiguresConcurrentTest, ALedgerThatAnswersNobodyKeepsNobodyWaiting) {
  Gate gate;
  LedgerFigures figures(ledger_, clock_, milliseconds(1));
  ledger_.before_counts([&] { gate.pass(); });
  EXPECT_THAT(text_of(figures), IsEmpty());
  EXPECT_THAT(text_of(figures), IsEmpty()) << "it is not asked twice";
  EXPECT_TRUE(gate.await(1));
  gate.open();
}

TEST_F(LedgerFiguresConcurrentTest, MeanwhileTheFiguresAreThoseOfItsLastAnswer) {
  Gate gate;
  gate.let_through(1);
  ledger_.before_counts([&] { gate.pass(); });
  LedgerFigures figures(ledger_, clock_, milliseconds(1));
  ledger_.put(ready("1", policy_));
  while (text_of(figures).empty()) std::this_thread::yield();
  ledger_.put(ready("2", policy_));
  EXPECT_THAT(text_of(figures), HasSubstr("postino_outbox_emails{state=\"READY\"} 1\n"));
  EXPECT_TRUE(gate.await(2)) << "it has been asked again";
  EXPECT_THAT(text_of(figures), HasSubstr("postino_outbox_emails{state=\"READY\"} 1\n"));
  gate.open();
}

}  // namespace
}  // namespace postino::outbox

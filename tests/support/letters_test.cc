// E-mails that go out by themselves: to customers whose tickets are new, and to engineers.
#include "support_environment.h"

namespace postino::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class OwnLettersTest : public testing::Test {
 protected:
  std::vector<std::string> kinds(const std::string& ticket) {
    std::vector<std::string> kinds;
    const Page<TicketEmail> emails = desk_.correspondence().list(ticket, {}, actor_).value();
    for (const TicketEmail& email : emails.entries) kinds.push_back(email.kind + " to " + email.to.front());
    return kinds;
  }

  SupportStore store_;
  SupportOffice office_{store_};
  SupportDesk desk_{store_.engine(),
                    office_.own_mail,
                    {.letters = {.from = "support@example.com",
                                 .reply_to = "",
                                 .acknowledges = true,
                                 .engineers = {{"eng_1", "eng1@example.com"}}}},
                    store_.clock(),
                    store_.random(),
                    store_.retry()};
  const Actor actor_ = operator_of();
};

TEST_F(OwnLettersTest, TellCustomersAndEngineers) {
  const auto created = desk_.tickets().create(new_ticket(), "", actor_);
  ASSERT_TRUE(succeeded(created));
  const std::string id = created->answer.ticket_id;
  EXPECT_THAT(kinds(id), ElementsAre("acknowledgement to ada@example.org"));
  store_.time().advance(std::chrono::seconds(1));
  ASSERT_TRUE(succeeded(desk_.tickets().move(id, {.to = TicketStatus::processing}, {}, actor_)));
  ASSERT_TRUE(succeeded(desk_.tickets().escalate(id, "eng_1", "", {}, actor_)));
  EXPECT_THAT(kinds(id), ElementsAre("escalation to eng1@example.com", "acknowledgement to ada@example.org"));
}

TEST_F(OwnLettersTest, TellEngineersBesidesTheLetterOfAnEscalation) {
  const std::string id = desk_.tickets().create(new_ticket(), "", actor_)->answer.ticket_id;
  ASSERT_TRUE(succeeded(desk_.tickets().move(id, {.to = TicketStatus::processing}, {}, actor_)));
  store_.time().advance(std::chrono::seconds(1));
  Letter letter = test_letter();
  letter.key = "k";
  EXPECT_EQ(desk_.handovers().run_once().value(), 0) << "nothing waits yet";
  ASSERT_TRUE(succeeded(desk_.tickets().escalate(id, "eng_1", "", {}, actor_, letter)));
  EXPECT_THAT(kinds(id), testing::UnorderedElementsAre("answer to ada@example.org", "escalation to eng1@example.com",
                                                       "acknowledgement to ada@example.org"));
  EXPECT_EQ(desk_.handovers().run_once().value(), 1);
  EXPECT_EQ(office_.emails().size(), 3U);
}

// Their texts are ours: a customer chooses the address, and not a word of what is sent there.
TEST_F(OwnLettersTest, OfBoundCallersHaveNothingOfTheirs) {
  NewTicket ticket = new_ticket();
  ticket.customer.name = "Buy at http://evil.example";
  ticket.symptom_text = "Buy at http://evil.example";
  const auto created = desk_.tickets().create(ticket, "", customer_actor("cust_456"));
  ASSERT_TRUE(succeeded(created));
  const Page<TicketEmail> emails = desk_.correspondence().list(created->answer.ticket_id, {}, actor_).value();
  ASSERT_EQ(emails.entries.size(), 1U);
  EXPECT_EQ(emails.entries.front().kind, "acknowledgement");
  EXPECT_THAT(emails.entries.front().subject + emails.entries.front().text, testing::Not(testing::HasSubstr("evil")));
}

TEST_F(OwnLettersTest, AreNotSentWhereNoneCanGo) {
  NewTicket silent = new_ticket();
  silent.customer.contact_email.clear();
  const auto created = desk_.tickets().create(silent, "", actor_);
  ASSERT_TRUE(succeeded(created));
  const std::string id = created->answer.ticket_id;
  ASSERT_TRUE(succeeded(desk_.tickets().move(id, {.to = TicketStatus::processing}, {}, actor_)));
  ASSERT_TRUE(succeeded(desk_.tickets().escalate(id, "eng_2", "", {}, actor_)));
  EXPECT_THAT(kinds(id), IsEmpty());
}

}  // namespace
}  // namespace postino::support

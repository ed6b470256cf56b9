// E-mails of tickets: out through the outbox, and answers back to their tickets.
#include "item/attribute_text.h"
#include "net/logged_lines_testing.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using enum TicketStatus;

class CorrespondenceTest : public ::testing::Test {
 protected:
  static ReceivedMessage answer_to(const std::string& message_id, const std::string& own = "reply-1@example.org",
                                   const std::string& header = "In-Reply-To") {
    return {"From: Ada <ada@example.org>\r\nMessage-ID: <" + own + ">\r\n" + header + ": <" + message_id +
                ">\r\nSubject: =?utf-8?Q?Re:_gr=C3=BCn?=\r\n",
            "It still restarts.\r\nAda"};
  }

  SupportStore store_;
  SupportOffice office_{store_};
  const Actor actor_ = operator_of();
};

TEST_F(CorrespondenceTest, GoesOutInOneCommitWithTheTicket) {
  NewTicket ticket = new_ticket();
  ticket.letter = test_letter();
  ticket.letter->kind = "acknowledgement";
  const std::string id = office_.make(ticket);
  const std::vector<outbox::Email> emails = office_.emails();
  ASSERT_THAT(emails, SizeIs(1));
  EXPECT_THAT(emails.front().tags, ElementsAre("support", "acknowledgement"));
  const auto listed = office_.correspondence.list(id, {}, actor_);
  ASSERT_TRUE(succeeded(listed));
  ASSERT_THAT(listed->entries, SizeIs(1));
  const TicketEmail& email = listed->entries.front();
  EXPECT_EQ(email.email_id, emails.front().id);
  EXPECT_EQ(email.message_id, email.email_id + "@example.com");
  EXPECT_EQ(email.subject, "Your ticket " + id);
  EXPECT_EQ(email.text, "We look at it. It is NEW.");
  EXPECT_THAT(email.to, ElementsAre("ada@example.org"));
  EXPECT_TRUE(store_.get("MAIL#" + email.message_id, "TICKET"));

  ASSERT_TRUE(succeeded(office_.tickets.move(id, {.to = processing}, {}, actor_, test_letter())));
  ASSERT_TRUE(succeeded(office_.tickets.escalate(id, "eng_1", "", {}, actor_, test_letter())));
  EXPECT_THAT(office_.emails(), SizeIs(3));
  // What is refused sends nothing.
  EXPECT_FALSE(office_.tickets.move(id, {.to = fresh}, {}, actor_, test_letter()));
  EXPECT_FALSE(office_.tickets.move(id, {.to = processing}, {.version = 1}, actor_, test_letter()));
  EXPECT_THAT(office_.emails(), SizeIs(3));
}

TEST_F(CorrespondenceTest, OfTheSameKeyGoesOutOnce) {
  const std::string id = office_.make();
  Letter letter = test_letter();
  letter.key = "k1";
  const auto first = office_.correspondence.send(id, letter, actor_);
  ASSERT_TRUE(succeeded(first));
  store_.time().advance(std::chrono::minutes(1));
  const auto again = office_.correspondence.send(id, letter, actor_);
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(again->is_repeated);
  EXPECT_EQ(again->email.email_id, first->email.email_id);
  EXPECT_EQ(again->email.sort, first->email.sort);
  EXPECT_THAT(office_.emails(), SizeIs(1));
  ASSERT_TRUE(succeeded(office_.correspondence.send(id, test_letter(), actor_)));
  EXPECT_THAT(office_.emails(), SizeIs(2));
}

TEST_F(CorrespondenceTest, FindsTheTicketOfAnAnswer) {
  const std::string id = office_.make();
  const std::string sent = office_.correspondence.send(id, test_letter(), actor_)->email.message_id;
  store_.time().advance(std::chrono::minutes(1));
  const auto received = office_.correspondence.receive(answer_to(sent), actor_);
  ASSERT_TRUE(succeeded(received));
  EXPECT_FALSE(received->is_repeated);
  EXPECT_EQ(received->email.ticket_id, id);
  EXPECT_EQ(received->email.subject, "Re: grün");
  EXPECT_EQ(received->email.text, "It still restarts.\nAda");
  EXPECT_EQ(received->email.from, "Ada <ada@example.org>");
  const auto again = office_.correspondence.receive(answer_to(sent), actor_);
  ASSERT_TRUE(succeeded(again));
  EXPECT_TRUE(again->is_repeated);
  EXPECT_THAT(office_.correspondence.list(id, {}, actor_)->entries, SizeIs(2));

  // By References, whose last one counts, also where it is an answer itself.
  const auto third = office_.correspondence.receive(
      answer_to("other@example.org> <reply-1@example.org", "reply-2@example.org", "References"), actor_);
  ASSERT_TRUE(succeeded(third));
  EXPECT_EQ(third->email.ticket_id, id);
  // The next e-mail goes on with it.
  const auto next = office_.correspondence.send(id, test_letter(), actor_);
  EXPECT_EQ(next->email.in_reply_to, "reply-2@example.org");
  EXPECT_EQ(office_.events.list(id, {}, actor_)->entries.at(1).type, "email_received");
}

TEST_F(CorrespondenceTest, OfStrangersIsRefused) {
  const std::string id = office_.make();
  const std::string sent = office_.correspondence.send(id, test_letter(), actor_)->email.message_id;
  for (const Actor& other : {operator_of("acme"), customer_actor("cust_9")})
    EXPECT_TRUE(is_refused(office_.correspondence.receive(answer_to(sent), other), RefusalKind::unknown_answer));
  for (const ReceivedMessage& message :
       {answer_to("none@example.com"), ReceivedMessage{"Subject: hello\r\n", "text"}, ReceivedMessage{"", ""}})
    EXPECT_TRUE(is_refused(office_.correspondence.receive(message, actor_), RefusalKind::unknown_answer));
  EXPECT_TRUE(succeeded(office_.correspondence.receive(answer_to(sent), customer_actor("cust_456"))));
}

TEST_F(CorrespondenceTest, KeepsTextsThatCanBeKept) {
  const std::string id = office_.make();
  const std::string sent = office_.correspondence.send(id, test_letter(), actor_)->email.message_id;
  ReceivedMessage message = answer_to(sent, "");
  message.text = std::string("a\0b\x1b[31m\xff\tc\n", 12) + std::string(300'000, 'x') + "\nend";
  const auto received = office_.correspondence.receive(message, actor_);
  ASSERT_TRUE(succeeded(received));
  EXPECT_TRUE(received->email.is_cut);
  EXPECT_LE(received->email.text.size(), TicketLimits::email_bytes);
  EXPECT_TRUE(received->email.text.starts_with("a b [31m?\tc\nxxx")) << received->email.text.substr(0, 20);
  EXPECT_TRUE(received->email.message_id.ends_with("@received")) << "it had none";
  EXPECT_TRUE(office_.correspondence.receive(message, actor_)->is_repeated);
}

TEST_F(CorrespondenceTest, BreaksNoRules) {
  NewTicket without_address = new_ticket();
  without_address.customer.contact_email.clear();
  const std::string id = office_.make(without_address);
  EXPECT_THAT(faulty_fields(office_.correspondence.send(id, test_letter(), actor_)), ElementsAre("to"));
  Letter letter;
  letter.subject = "a\nBcc: x@example.org";
  letter.to = {"nobody"};
  EXPECT_THAT(faulty_fields(office_.correspondence.send(id, letter, actor_)), ElementsAre("subject", "text", "to[0]"));
  letter = test_letter();
  letter.text = letter.html = std::string(TicketLimits::email_bytes / 2 + 1, 'x');
  const auto too_large = office_.correspondence.send(id, letter, actor_);
  EXPECT_THAT(faulty_fields(too_large), ElementsAre("text"));
  EXPECT_EQ(too_large.error().message, "text must not take more than 200000 bytes together with html");
  Letter to_others = test_letter();
  to_others.to = {"eve@example.net"};
  EXPECT_THAT(faulty_fields(office_.correspondence.send(id, to_others, customer_actor("cust_456"))),
              ElementsAre("letter"));
  EXPECT_TRUE(succeeded(office_.correspondence.send(id, to_others, actor_)));
  MemoryMailer mail;
  SupportDesk mute(store_.engine(), mail, {}, store_.clock(), store_.random(), store_.retry());
  EXPECT_TRUE(is_refused(mute.correspondence().send(id, to_others, actor_), RefusalKind::no_sender));
}

TEST_F(CorrespondenceTest, ReadsHeadersWhoseLinesEndInLineFeeds) {
  const std::string id = office_.make();
  const std::string sent = office_.correspondence.send(id, test_letter(), actor_)->email.message_id;
  const auto received =
      office_.correspondence.receive({"From: ada@example.org\nMessage-ID: <lf@example.org>\nIn-Reply-To: <" + sent +
                                          ">\nSubject: It is\n still =?utf-8?Q?gr=C3=BCn?=\n",
                                      "text"},
                                     actor_);
  ASSERT_TRUE(succeeded(received));
  EXPECT_EQ(received->email.subject, "It is still grün");
}

TEST_F(CorrespondenceTest, RefersToWhatTheCustomerHas) {
  const std::string id = office_.make();
  const std::string first = office_.correspondence.send(id, test_letter(), actor_)->email.message_id;
  Letter internal = test_letter();
  internal.to = {"eng1@example.com"};
  const TicketEmail notice = office_.correspondence.send(id, internal, actor_)->email;
  EXPECT_EQ(notice.in_reply_to, "") << "what goes to others is no part of the customer's thread";
  ReceivedMessage of_engineer = answer_to(notice.message_id, "eng@example.com");
  of_engineer.headers.replace(of_engineer.headers.find("Ada <ada@example.org>"), 21, "eng1@example.com");
  ASSERT_TRUE(succeeded(office_.correspondence.receive(of_engineer, actor_)));
  const TicketEmail second = office_.correspondence.send(id, test_letter(), actor_)->email;
  EXPECT_EQ(second.in_reply_to, first);
  ASSERT_TRUE(succeeded(office_.correspondence.receive(answer_to(second.message_id), actor_)));
  const TicketEmail third = office_.correspondence.send(id, test_letter(), actor_)->email;
  EXPECT_EQ(third.in_reply_to, "reply-1@example.org");
  const auto item = store_.get("TICKET#" + id, "METADATA");
  EXPECT_EQ(item::attribute_text(*item, "mail_references"), first + " " + second.message_id + " reply-1@example.org");
}

// Customers could send any text to any address otherwise.
// An answer whose id no mailbox could know leaves the thread as it was.
TEST_F(CorrespondenceTest, GoesOnWithTheLastIdThatCanBeReferredTo) {
  const std::string id = office_.make();
  const auto first = office_.correspondence.send(id, test_letter(), actor_);
  ASSERT_TRUE(succeeded(first));
  const std::string& sent = first->email.message_id;
  const std::string from = "From: ada@example.org\r\nIn-Reply-To: <" + sent + ">\r\n";
  ASSERT_TRUE(succeeded(office_.correspondence.receive({from + "Message-ID: <one two@example.org>\r\n", "1"}, actor_)));
  ASSERT_TRUE(succeeded(office_.correspondence.receive({from, "2"}, actor_)));
  const auto second = office_.correspondence.send(id, test_letter(), actor_);
  ASSERT_TRUE(succeeded(second));
  EXPECT_EQ(second->email.in_reply_to, sent);
  EXPECT_EQ(item::attribute_text(*store_.get("TICKET#" + id, "METADATA"), "mail_references"), sent);
}

TEST_F(CorrespondenceTest, OfBoundCallersIsRefused) {
  const Actor bound = customer_actor("cust_456");
  NewTicket ticket = new_ticket();
  ticket.customer.contact_email = "victim@example.net";
  ticket.letter = test_letter();
  EXPECT_THAT(faulty_fields(office_.tickets.create(ticket, "", bound)), ElementsAre("letter"));
  const std::string id = office_.make();
  EXPECT_THAT(faulty_fields(office_.tickets.move(id, {.to = processing}, {}, bound, test_letter())),
              ElementsAre("letter"));
  EXPECT_THAT(faulty_fields(office_.correspondence.send(id, test_letter(), bound)), ElementsAre("letter"));
  EXPECT_THAT(office_.emails(), IsEmpty());
}

TEST(Handovers, BringEmailsToAnOutboxThatSharesNoCommits) {
  SupportStore store;
  MemoryMailer mail;
  SupportOffice office(store, &mail);
  NewTicket ticket = new_ticket();
  ticket.letter = test_letter();
  office.make(ticket, operator_of("acme"));
  EXPECT_THAT(mail.payloads(), IsEmpty());
  mail.fails = true;
  EXPECT_FALSE(office.desk.handovers().run_once());
  mail.fails = false;
  EXPECT_EQ(office.desk.handovers().run_once().value(), 1);
  ASSERT_THAT(mail.payloads(), SizeIs(1));
  EXPECT_EQ(mail.tenants.begin()->second, "acme");
  EXPECT_EQ(office.desk.handovers().run_once().value(), 0);
}

TEST(Handovers, GiveUpAfterAFewWhileTheOutboxIsAwayAndGoOnBehindThem) {
  constexpr int emails = 15, most_refused = 10;
  SupportStore store;
  MemoryMailer mail;
  SupportOffice office(store, &mail);
  NewTicket ticket = new_ticket();
  ticket.letter = test_letter();
  for (int i = 0; i < emails; ++i) office.make(ticket);
  mail.fails = true;
  EXPECT_FALSE(office.desk.handovers().run_once());
  EXPECT_EQ(mail.tried, most_refused);
  EXPECT_FALSE(office.desk.handovers().run_once());
  EXPECT_EQ(mail.tried, emails) << "the others had their turn";
  mail.fails = false;
  EXPECT_EQ(office.desk.handovers().run_once().value(), emails);
}

TEST(Handovers, TellWhenTheOutboxIsAwayAndWhenItIsBack) {
  SupportStore store;
  MemoryMailer mail;
  SupportOffice office(store, &mail);
  NewTicket ticket = new_ticket();
  ticket.letter = test_letter();
  office.make(ticket);
  const net::LoggedLines lines;
  mail.fails = true;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(office.desk.handovers().run_once());
  mail.fails = false;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(office.desk.handovers().run_once());
  EXPECT_EQ(lines.count("e-mails of tickets do not get into the outbox"), 1);
  EXPECT_EQ(lines.count("e-mails of tickets get into the outbox again"), 1);
}

TEST(Handovers, AreLookedForUntilNothingIsLeftWhenCommitsAreShared) {
  SupportStore store;
  MemoryMailer mail;
  SupportOffice former(store, &mail);
  SupportOffice office(store);
  NewTicket ticket = new_ticket();
  ticket.letter = test_letter();
  former.make(ticket);
  EXPECT_EQ(office.desk.handovers().run_once().value(), 1) << "what is left of another outbox";
  EXPECT_THAT(office.emails(), SizeIs(1));
  former.make(ticket);
  EXPECT_EQ(office.desk.handovers().run_once().value(), 0) << "it is not read any more";
  office.desk.wake();
  EXPECT_EQ(office.desk.handovers().run_once().value(), 1) << "but when one may be there";
}

}  // namespace
}  // namespace postino::support

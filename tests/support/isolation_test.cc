// Callers of other tenants, and those bound to other customers, are told nothing: by any function, filter or cursor.
#include "base/base64.h"
#include "item/json_codec.h"
#include "item/plain_json.h"
#include "support_environment.h"

namespace postino::support {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using enum TicketStatus;

class IsolationTest : public ::testing::Test {
 protected:
  IsolationTest() {
    NewTicket ticket = new_ticket("cust_1");
    ticket.letter = test_letter();
    id_ = office_.make(ticket);
    office_.move(id_, processing);
    EXPECT_TRUE(succeeded(office_.tickets.escalate(id_, "eng_1", "", {}, operator_of())));
    EXPECT_TRUE(succeeded(office_.feedback.add(id_, {.operator_id = "op_1", .rating = 5}, operator_of())));
  }

  SupportStore store_;
  SupportOffice office_{store_};
  std::string id_;
  const std::vector<Actor> strangers_ = {operator_of("acme"), customer_actor("cust_2"),
                                         customer_actor("cust_1", "acme"), customer_actor("")};
};

TEST_F(IsolationTest, ATicketOfOthersIsAsIfThereWereNone) {
  for (const Actor& stranger : strangers_) {
    const auto answer_for = [&](const std::string& id) {
      std::vector<std::string> texts;
      const auto note = [&](const auto& answer) { texts.push_back(answer ? "done" : answer.error().message); };
      note(office_.tickets.get(id, stranger));
      note(office_.tickets.move(id, {.to = processing}, {}, stranger));
      note(office_.tickets.move(id, {.to = ready}, {.version = 99}, stranger));
      note(office_.tickets.escalate(id, "eng_1", "", {}, stranger));
      note(office_.tickets.deescalate(id, "", {}, stranger));
      note(office_.tickets.change_priority(id, "P1", {}, stranger));
      note(office_.feedback.add(id, {.operator_id = "op_1", .rating = 1}, stranger));
      note(office_.feedback.of_ticket(id, {}, stranger));
      note(office_.feedback.of_ticket(id, {"cursor", 1}, stranger));
      note(office_.events.add(id, "note", {}, stranger));
      note(office_.events.list(id, {}, stranger));
      note(office_.correspondence.send(id, test_letter(), stranger));
      note(office_.correspondence.list(id, {}, stranger));
      for (std::string& text : texts)
        if (const auto at = text.find(id); at != std::string::npos) text.replace(at, id.size(), "...");
      return texts;
    };
    const std::vector<std::string> of_others = answer_for(id_);
    EXPECT_EQ(of_others, answer_for("tkt_none"));
    EXPECT_THAT(of_others, ::testing::Each(std::string("there is no ticket ...")));
    EXPECT_THAT(office_.tickets.get_many({id_}, stranger).value(), IsEmpty());
  }
  EXPECT_EQ(office_.tickets.get(id_, operator_of())->status, escalated);
  EXPECT_EQ(office_.emails().size(), 1U);
}

TEST_F(IsolationTest, ListsHaveNothingOfOthers) {
  for (const Actor& stranger : strangers_) {
    for (const TicketFilter& filter : std::vector<TicketFilter>{{},
                                                                {.customer_id = "cust_1"},
                                                                {.status = escalated},
                                                                {.priority = "P3"},
                                                                {.product_type = "router"},
                                                                {.error_code = "E42"}}) {
      const auto page = office_.lists.find(filter, {}, stranger);
      ASSERT_TRUE(succeeded(page));
      EXPECT_THAT(page->entries, IsEmpty());
      EXPECT_EQ(page->cursor, "");
    }
    for (const std::string engineer : {"", "eng_1"})
      EXPECT_THAT(office_.lists.escalated(engineer, {}, stranger)->entries, IsEmpty());
    EXPECT_THAT(office_.feedback.by_operator("op_1", {}, stranger)->entries, IsEmpty());
  }
  const Actor owner = customer_actor("cust_1");
  EXPECT_THAT(ids_of(office_.lists.find({}, {}, owner)->entries), ElementsAre(id_));
  EXPECT_THAT(ids_of(office_.lists.find({.error_code = "E42"}, {}, owner)->entries), ElementsAre(id_));
  EXPECT_THAT(office_.feedback.by_operator("op_1", {}, owner)->entries, SizeIs(1));
}

// A cursor is readable text once it is decoded.
TEST_F(IsolationTest, CursorsTellNothingOfOthers) {
  std::vector<std::string> own;
  for (int i = 0; i < 3; ++i) {
    own.push_back(office_.make(new_ticket("cust_2")));
    office_.make(new_ticket("cust_1"));
    ASSERT_TRUE(succeeded(office_.feedback.add(own.back(), {.operator_id = "op_1", .rating = 5}, operator_of())));
  }
  const Actor bound = customer_actor("cust_2");
  std::vector<std::string> cursors;
  for (const TicketFilter& filter : std::vector<TicketFilter>{{}, {.status = fresh}, {.error_code = "E42"}})
    cursors.push_back(office_.lists.find(filter, {"", 1}, bound)->cursor);
  cursors.push_back(office_.feedback.by_operator("op_1", {"", 1}, bound)->cursor);
  for (const std::string& cursor : cursors) {
    ASSERT_NE(cursor, "");
    std::string text = cursor.substr(8);
    std::ranges::replace(text, '-', '+');
    std::ranges::replace(text, '_', '/');
    while (text.size() % 4 != 0) text += '=';
    const std::string decoded = base::from_base64(text).value();
    EXPECT_THAT(decoded, Not(HasSubstr("cust_1")));
    bool is_own = false;
    for (const std::string& id : own) is_own = is_own || decoded.find(id) != std::string::npos;
    EXPECT_TRUE(is_own) << decoded;
  }
}

TEST_F(IsolationTest, TicketsAreMadeForOnesOwnCustomerAlone) {
  EXPECT_THAT(faulty_fields(office_.tickets.create(new_ticket("cust_1"), "", customer_actor("cust_2"))),
              ElementsAre("customer.id"));
  EXPECT_TRUE(succeeded(office_.tickets.create(new_ticket("cust_2"), "", customer_actor("cust_2"))));
}

// What agents and engineers write among themselves.
TEST_F(IsolationTest, CustomersSeeNothingInternalOfTheirOwnTickets) {
  const Actor owner = customer_actor("cust_1"), agent = operator_of();
  ASSERT_TRUE(succeeded(office_.tickets.deescalate(id_, "", {}, agent)));
  ASSERT_TRUE(succeeded(office_.tickets.escalate(id_, "eng_secret", "secret reason", {}, agent)));
  ASSERT_TRUE(succeeded(office_.events.add(id_, "note", item::Map{{"text", "secret note"}}, agent)));
  ASSERT_TRUE(succeeded(office_.events.add(id_, "note", item::Map{{"text", "for you"}, {"public", true}}, agent)));
  Letter internal = test_letter("secret subject");
  internal.to = {"eng1@example.com"};
  const auto notice = office_.correspondence.send(id_, internal, agent);
  ASSERT_TRUE(succeeded(notice));
  const ReceivedMessage reply{"From: eng1@example.com\r\nMessage-ID: <secret@example.com>\r\nIn-Reply-To: <" +
                                  notice->email.message_id + ">\r\nSubject: secret answer\r\n",
                              "secret text"};
  ASSERT_TRUE(succeeded(office_.correspondence.receive(reply, agent)));

  std::vector<Ticket> seen = {office_.tickets.get(id_, owner).value(), office_.tickets.get_many({id_}, owner)->front(),
                              office_.lists.find({}, {}, owner)->entries.front(),
                              office_.lists.escalated("", {}, owner)->entries.front(),
                              office_.feedback.of_ticket(id_, {}, owner)->ticket};
  for (const Ticket& ticket : seen) {
    EXPECT_EQ(ticket.status, escalated);
    ASSERT_TRUE(ticket.escalation);
    EXPECT_EQ(ticket.escalation->engineer + ticket.escalation->reason + ticket.status_reason, "");
    EXPECT_THAT(item::to_plain_json(ticket.data), Not(HasSubstr("secret")));
  }
  EXPECT_THAT(item::to_plain_json(office_.tickets.get(id_, agent)->data), HasSubstr("eng_secret"));

  std::vector<std::string> types;
  for (const TicketEvent& event : all_pages<TicketEvent>(
           [&](const PageRequest& page) {
             return office_.events.list(id_, {.newest_first = false, .page = page}, owner);
           },
           3)) {
    types.push_back(event.type);
    EXPECT_EQ(event.by, "");
    EXPECT_THAT(item::to_plain_json(event.details), Not(HasSubstr("secret")));
  }
  EXPECT_THAT(types, ElementsAre("ticket_created", "status_changed", "status_changed", "feedback_received",
                                 "status_changed", "status_changed", "note"));

  const auto emails = office_.correspondence.list(id_, {}, owner);
  ASSERT_TRUE(succeeded(emails));
  ASSERT_THAT(emails->entries, SizeIs(1));
  EXPECT_EQ(emails->entries.front().subject, "Your ticket " + id_);
  EXPECT_THAT(office_.correspondence.list(id_, {}, agent)->entries, SizeIs(3));
  // Nor does one of the same Message-ID tell what there is.
  EXPECT_FALSE(office_.correspondence.receive(reply, owner));
  EXPECT_TRUE(is_refused(office_.correspondence.find("secret@example.com", owner), RefusalKind::unknown_answer));
}

TEST_F(IsolationTest, TenantsMayHaveTheSameNamesForTheirThings) {
  const std::string other = office_.make(new_ticket("cust_1"), operator_of("acme"));
  EXPECT_THAT(ids_of(office_.lists.find({.customer_id = "cust_1"}, {}, operator_of("acme"))->entries),
              ElementsAre(other));
  EXPECT_THAT(ids_of(office_.lists.find({.customer_id = "cust_1"}, {}, operator_of())->entries), ElementsAre(id_));
}

}  // namespace
}  // namespace postino::support

#include "support_environment.h"

#include "base/check.h"
#include "item/attribute_text.h"
#include "outbox/store_ledger/store_tables.h"

namespace postino::support {

namespace {

const outbox::Policy& usual_policy() {
  static const outbox::Policy policy;
  return policy;
}

}  // namespace

void SupportStore::maintain() {
  while (true) {
    const auto more = engine().run_maintenance_once();
    CHECK(more.has_value());
    if (!*more) return;
  }
}

void SupportStore::pass_time(std::chrono::hours time) {
  for (; time.count() > 0; --time) {
    time_->advance(std::chrono::hours(1));
    maintain();
  }
}

void SupportStore::put(item::Item item) {
  store::PutItemRequest request;
  request.table_name = table_name;
  request.item = std::move(item);
  const auto answer = engine().put_item(request);
  EXPECT_TRUE(answer) << answer.error().message;
}

std::optional<item::Item> SupportStore::get(const std::string& pk, const std::string& sk) {
  store::GetItemRequest request;
  request.table_name = table_name;
  request.key = Keys::key(pk, sk);
  request.consistent_read = true;
  const auto answer = engine().get_item(request);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? answer->item : std::nullopt;
}

std::vector<item::Item> SupportStore::partition(const std::string& pk) {
  store::QueryRequest request;
  request.table_name = table_name;
  request.key_condition = "PK = :pk";
  request.placeholders.values = item::Map{{":pk", pk}};
  std::vector<item::Item> items;
  do {
    auto page = engine().query(request);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) break;
    std::ranges::move(page->items, std::back_inserter(items));
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return items;
}

std::vector<std::string> SupportStore::sort_keys(const std::string& pk) {
  std::vector<std::string> keys;
  for (const item::Item& item : partition(pk)) keys.push_back(item::attribute_text(item, "SK"));
  return keys;
}

SupportOffice::SupportOffice(SupportStore& on, store::Store& through, outbox::Mailer* other_mail, SupportTables tables)
    : base_store(on),
      ledger(through, {}, usual_policy(), on.clock(), on.random(), on.retry()),
      suppressions(through, {}, on.retry()),
      outbox(ledger, suppressions, usual_policy(), on.clock(), on.random(), signal, {}),
      own_mail(outbox, through),
      desk(through, other_mail != nullptr ? *other_mail : own_mail,
           {.tables = std::move(tables),
            .letters = {.from = "Support <support@example.com>", .reply_to = ""},
            .poll = std::chrono::hours(1)},
           on.clock(), on.random(), on.retry()),
      tickets(desk.tickets()),
      lists(desk.lists()),
      feedback(desk.feedback()),
      events(desk.events()),
      correspondence(desk.correspondence()) {
  CHECK(outbox::prepare_tables(on.engine(), {}).has_value());
  const auto wait = [&] {
    on.maintain();
    return true;
  };
  CHECK(desk.prepare(wait).has_value());
}

std::vector<outbox::Email> SupportOffice::emails() {
  const auto page =
      outbox.list({.tenant = {}, .states = {}, .since = {}, .until = {}, .filter = {}, .cursor = {}, .limit = 100});
  EXPECT_TRUE(page) << page.error().message;
  return page ? page->emails : std::vector<outbox::Email>();
}

int SupportOffice::adopt() {
  constexpr int enough = 1'000;
  int written = 0;
  for (int quiet = 0, rounds = 0; quiet < 3 && rounds < enough; ++rounds) {
    const auto done = desk.adoption().run_once(100, base::Milliseconds(0));
    EXPECT_TRUE(succeeded(done));
    if (!done) break;
    written += *done;
    quiet = *done == 0 ? quiet + 1 : 0;
  }
  return written;
}

std::string SupportOffice::make(const NewTicket& ticket, const Actor& actor) {
  base_store.time().advance(std::chrono::seconds(1));
  const auto created = tickets.create(ticket, "", actor);
  EXPECT_TRUE(succeeded(created));
  return created ? created->answer.ticket_id : "";
}

Ticket SupportOffice::move(const std::string& id, TicketStatus to, const Actor& actor) {
  const auto moved =
      tickets.move(id, {.to = to, .reason = "", .engineer = to == TicketStatus::escalated ? "eng_1" : ""}, {}, actor);
  EXPECT_TRUE(succeeded(moved));
  return moved ? *moved : Ticket();
}

}  // namespace postino::support

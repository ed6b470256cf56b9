// What tickets cost, on the embedded store, which syncs every commit.
//
//   bench_support [--quick] [--tickets count]
//
// Creations and moves of tickets are compared with bare transactions that put the same items into the same store.
// Pages of each list are read with `count` tickets in the table (200,000; --quick: 20,000) and with a hundredth of
// them. Missing a bar is no failure, because the machine is never quiet. The data goes below the program's own
// directory, on a real disk, and is removed afterwards.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "report.h"
#include "support/support_desk.h"

namespace postino::bench {

namespace {

using namespace support;

// No ticket here sends e-mails.
class NoMailer final : public outbox::Mailer {
 public:
  bool shares_commits() const override { return false; }
  outbox::JoinedOutcome accept_with(const outbox::Payload&, const std::string&,
                                    std::vector<store::TransactAction>) override {
    CHECK(false);
    return {};
  }
  base::Result<void> accept(const outbox::Payload&, const std::string&) override { return {}; }
  std::string message_id_of(const std::string& email_id, const std::string&) const override { return email_id; }
};

std::unique_ptr<engine::Engine> open_store(const std::filesystem::path& directory) {
  auto opened = engine::Engine::open({.directory = directory});
  CHECK(opened);
  return *std::move(opened);
}

NewTicket ticket_of(const std::string& customer) {
  NewTicket ticket;
  ticket.customer = {customer, "Ada Lovelace", "ada@example.org", "ENTERPRISE"};
  ticket.asset = {"router", "RX-200", "SN-1", "1.2.3"};
  ticket.symptom_text = std::string(300, 'a');
  ticket.error_code = "E42";
  return ticket;
}

class Desk {
 public:
  explicit Desk(const std::filesystem::path& directory) : engine_(open_store(directory)) {
    CHECK(desk_.prepare([] {
      std::this_thread::yield();
      return true;
    }));
    const auto made = desk_.tickets().create(ticket_of("customer"), "sample", actor_);
    CHECK(made);
    sample_ = made->answer.ticket_id;
    creation_ = items_of(sample_);
    // What a move leaves behind: the ticket and its event.
    CHECK(desk_.tickets().move(sample_, {.to = TicketStatus::processing}, {}, actor_));
    for (const item::Item& item : items_of(sample_))
      if (const std::string& sort = item.find("SK")->as<std::string>(); sort == metadata_sort || sort.ends_with("#002"))
        move_.push_back(item);
  }

  Operation creating() {
    return [this] {
      const std::string key = "key_" + std::to_string(++number_);
      CHECK(desk_.tickets().create(ticket_of("customer_" + std::to_string(number_ % 1'000)), key, actor_));
    };
  }
  // The items that a creation leaves behind, of another ticket.
  Operation putting_creations() {
    return [this] { put(creation_); };
  }
  // Each ticket goes to and fro.
  Operation moving() {
    const auto made = desk_.tickets().create(ticket_of("customer"), "", actor_);
    CHECK(made);
    return [this, id = made->answer.ticket_id, turn = 0]() mutable {
      static constexpr std::array states = {TicketStatus::processing, TicketStatus::failed};
      const TicketStatus to = states[static_cast<std::size_t>(turn++) % 2];
      CHECK(desk_.tickets().move(id, {.to = to}, {}, actor_));
    };
  }
  Operation putting_moves() {
    return [this] { put(move_); };
  }

  // Tickets of a tenant, written as they are after their creation.
  void fill(const std::string& tenant, int count) {
    const Keys keys(tenant);
    store::BatchWriteItemRequest request;
    request.tables.push_back({"prod-tickets-unified", {}});
    std::vector<store::BatchWrite>& writes = request.tables.front().writes;
    const base::TimePoint begin = clock_.now() - std::chrono::hours(24);
    for (int i = 0; i < count; ++i) {
      StoredTicket stored;
      Ticket& ticket = stored.ticket;
      const NewTicket wanted = ticket_of("customer_" + std::to_string(i / 5 % 4));
      ticket.id = "tkt_" + std::to_string(i);
      ticket.customer = wanted.customer;
      ticket.asset = wanted.asset;
      ticket.symptom_text = wanted.symptom_text;
      ticket.error_code = wanted.error_code;
      ticket.created_at = begin + base::Milliseconds(i);
      ticket.created_text = write_time(ticket.created_at);
      ticket.status = all_statuses[static_cast<std::size_t>(i) % 5];
      if (ticket.status == TicketStatus::escalated)
        ticket.escalation = Escalation{ticket.created_at, "engineer", "hard"};
      ticket.version = 1;
      writes.emplace_back(store::BatchPut{ticket_item(keys, stored, DataForm::map)});
      for (Filing& filing : filings(keys, Filed(), ticket))
        writes.emplace_back(store::BatchPut{*std::move(filing.item)});
      if (writes.size() + 5 > store::max_batch_write_requests) {
        CHECK(engine_->batch_write_item(request));
        writes.clear();
      }
    }
    if (!writes.empty()) CHECK(engine_->batch_write_item(request));
  }
  // A page, and the one behind it.
  Operation listing(const std::string& tenant, const TicketFilter& filter, bool escalated) {
    return [this, actor = Actor{.scope = {.tenant = tenant}}, filter, escalated] {
      const auto read = [&](const PageRequest& page) {
        auto answer =
            escalated ? desk_.lists().escalated("engineer", page, actor) : desk_.lists().find(filter, page, actor);
        CHECK(answer && answer->entries.size() == 20);
        return answer->cursor;
      };
      const std::string cursor = read({"", 20});
      CHECK(!cursor.empty());
      read({cursor, 20});
    };
  }

 private:
  std::vector<item::Item> items_of(const std::string& id) {
    std::vector<item::Item> items;
    for (const std::string& pk : {"TICKET#" + id, std::string("IDEMPOTENCY#sample")}) {
      store::QueryRequest request;
      request.table_name = "prod-tickets-unified";
      request.key_condition = "PK = :pk";
      request.placeholders.values = item::Map{{":pk", pk}};
      auto page = engine_->query(request);
      CHECK(page);
      for (item::Item& item : page->items) items.push_back(std::move(item));
    }
    return items;
  }
  void put(const std::vector<item::Item>& samples) {
    const std::string id = "tkt_" + base::make_uuid(random_);
    store::TransactWriteItemsRequest request;
    for (const item::Item& sample : samples) {
      store::TransactPut put;
      put.table_name = "prod-tickets-unified";
      put.item = sample;
      for (const char* const name : {"PK", "GSI1SK"})
        if (item::AttributeValue* const value = put.item.find(name)) {
          auto& text = value->as<std::string>();
          if (const auto at = text.find(sample_); at != std::string::npos) text.replace(at, sample_.size(), id);
          if (text == "IDEMPOTENCY#sample") text = "IDEMPOTENCY#" + id;
        }
      request.actions.emplace_back(std::move(put));
    }
    CHECK(engine_->transact_write_items(request));
  }

  const Actor actor_{.scope = {}, .name = "op_1"};
  base::SystemClock clock_;
  base::SystemRandom random_;
  const store::Retry retry_{random_, [](base::Milliseconds time) { std::this_thread::sleep_for(time); }};
  std::unique_ptr<engine::Engine> engine_;
  NoMailer mail_;
  SupportDesk desk_{*engine_, mail_, {}, clock_, random_, retry_};
  std::string sample_;
  std::vector<item::Item> creation_;
  std::vector<item::Item> move_;
  std::atomic<int> number_ = 0;
};

int run(bool quick, int tickets, const std::filesystem::path& parent) {
  const base::TemporaryDirectory directory(parent);
  Desk desk(directory.path() / "store");
  const Plan plan = quick ? Plan{.rounds = 3, .turn = Duration(200)} : Plan{};
  Report report;
  Report::header("tickets", "bare");
  for (const int threads : {1, 16, 64}) {
    const std::vector<Pace> creations = compete(plan, {by_threads(threads, [&] { return desk.creating(); }),
                                                       by_threads(threads, [&] { return desk.putting_creations(); })});
    report.row(with_threads("creations : transactions of their items", threads), creations[0], creations[1], 0.5);
    const std::vector<Pace> moves = compete(plan, {by_threads(threads, [&] { return desk.moving(); }),
                                                   by_threads(threads, [&] { return desk.putting_moves(); })});
    report.row(with_threads("moves : transactions of their items", threads), moves[0], moves[1], 0.5);
  }
  desk.fill("few", tickets / 100);
  desk.fill("many", tickets);
  const std::pair<const char*, TicketFilter> lists[] = {{"recent", {}},
                                                        {"by status", {.status = TicketStatus::ready}},
                                                        {"by customer", {.customer_id = "customer_2"}},
                                                        {"by product", {.product_type = "router"}},
                                                        {"by error code", {.error_code = "E42"}},
                                                        {"by priority", {.priority = "P3"}},
                                                        {"escalated", {}}};
  for (const auto& [name, filter] : lists) {
    const bool escalated = std::string_view(name) == "escalated";
    const std::vector<Pace> paces =
        compete(plan, {by_threads(1, [&] { return desk.listing("many", filter, escalated); }),
                       by_threads(1, [&] { return desk.listing("few", filter, escalated); })});
    report.ceiling(std::string("two pages, ") + name + ", of " + std::to_string(tickets) + " tickets : of a hundredth",
                   "time", paces[1].per_second / paces[0].per_second, 1.3);
  }
  std::printf("%d below their bar\n", report.below());
  return 0;
}

}  // namespace

}  // namespace postino::bench

int main(int count, char** arguments) {
  bool quick = false;
  int tickets = 0;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--quick") {
      quick = true;
    } else if (argument == "--tickets" && i + 1 < count) {
      tickets = std::atoi(arguments[++i]);
    } else {
      std::fprintf(stderr, "usage: bench_support [--quick] [--tickets count]\n");
      return 2;
    }
  }
  constexpr int least = 20'000, usual = 200'000;
  if (tickets == 0) tickets = quick ? least : usual;
  return postino::bench::run(quick, std::max(tickets, least), std::filesystem::path(arguments[0]).parent_path());
}

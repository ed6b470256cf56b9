// What an approval of a payment reminder costs, on the embedded store, which syncs every commit.
//
//   bench_reminders [--quick]
//
// An approval reads the draft, the customer and the guard, decides, and commits everything with the e-mail. It is
// compared with bare transactions that put the same items into the same store. A decision for a customer who got
// 10,000 reminders is compared with one for a customer who got ten. Missing a bar is no failure, because the machine
// is never quiet. The data goes below the program's own directory, on a real disk, and is removed afterwards.
#include <array>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <thread>

#include "base/check.h"
#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "outbox/store_ledger/store_ledger.h"
#include "outbox/store_ledger/store_suppressions.h"
#include "outbox/store_ledger/store_tables.h"
#include "reminders/outbox_reminder_mailer.h"
#include "reminders/record/customer_item.h"
#include "reminders/record/draft_item.h"
#include "reminders/record/invoice_item.h"
#include "reminders/record/sent_item.h"
#include "reminders/reminders.h"
#include "report.h"

namespace postino::bench {

namespace {

using namespace std::chrono_literals;
using namespace reminders;

constexpr int many_sent = 10'000, few_sent = 10;
const std::string sample_customer = "customer_000000000";

std::unique_ptr<engine::Engine> open_store(const std::filesystem::path& directory) {
  auto opened = engine::Engine::open({.directory = directory});
  CHECK(opened);
  return *std::move(opened);
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

class Office {
 public:
  explicit Office(const std::filesystem::path& directory) : engine_(open_store(directory)) {
    CHECK(outbox::prepare_tables(*engine_, {}));
    CHECK(records_.prepare());
    put_customer(sample_customer);
    const std::string id = put_draft(sample_customer);
    const auto sent = approvals_.approve(id, 1, actor_);
    CHECK(sent);
    sample_email_ = sent->email_id;
    for (const std::string& table :
         {records_.tables().tracking, records_.tables().audit(), outbox::StoreTables().emails,
          outbox::StoreTables().spool(), outbox::StoreTables().counts()}) {
      const auto page = engine_->scan([&] {
        store::ScanRequest request;
        request.table_name = table;
        return request;
      }());
      CHECK(page);
      for (const item::Item& item : page->items)
        if (const item::AttributeValue* const sort = item.find("SK");
            sort == nullptr || !sort->as<std::string>().starts_with(unpaid_begin))
          samples_.push_back({table, item});
    }
  }

  // Drafts for customers of their own, made before the race.
  void make_drafts(int count) {
    constexpr int at_once = 8;  // with three items each
    for (int first = 0; first < count; first += at_once) {
      store::BatchWriteItemRequest request;
      request.tables.push_back({records_.tables().tracking, {}});
      std::vector<store::BatchWrite>& writes = request.tables.front().writes;
      for (int i = 0; i < at_once; ++i) {
        const std::string customer = next_customer();
        const Draft draft = draft_of(customer);
        writes.emplace_back(store::BatchPut{draft_item(Keys(""), draft)});
        writes.emplace_back(store::BatchPut{customer_item(Keys(""), customer_of(customer))});
        writes.emplace_back(store::BatchPut{unpaid_item(Keys(""), invoice_of(customer))});
        drafts_.push_back(draft.id);
      }
      CHECK(engine_->batch_write_item(request));
    }
  }

  Operation approving() {
    return [this] {
      const std::size_t number = taken_++;
      // When the machine is faster than expected, it makes drafts as well, which does it no good.
      CHECK(approvals_.approve(number < drafts_.size() ? drafts_[number] : put_draft(next_customer()), 1, actor_));
    };
  }
  // The items that an approval leaves behind, of another customer and another e-mail.
  Operation putting() {
    return [this] {
      const std::string customer = next_customer();
      const std::string email = base::make_uuid(random_);
      store::TransactWriteItemsRequest request;
      for (const Sample& sample : samples_) {
        store::TransactPut put;
        put.table_name = sample.table;
        put.item = sample.item;
        for (item::Attribute& attribute : put.item)
          if (auto* const text = attribute.value.get_if<std::string>()) {
            replace_all(*text, sample_customer, customer);
            replace_all(*text, sample_email_, email);
          }
        if (sample.table == records_.tables().audit()) put.item.set("SK", email);
        request.actions.emplace_back(std::move(put));
      }
      CHECK(engine_->transact_write_items(request));
    };
  }

  // A customer who got so many reminders, one in six hours, the last one a month ago.
  void make_history(const std::string& customer, int count) {
    put_customer(customer);
    const base::TimePoint last = clock_.now() - 30 * 24h;
    for (int first = 0; first < count; first += 25) {
      store::BatchWriteItemRequest request;
      request.tables.push_back({records_.tables().tracking, {}});
      for (int i = first; i < std::min(first + 25, count); ++i) {
        SentReminder sent;
        sent.customer_id = customer;
        sent.reminder_type = std::array{"first", "second", "final"}[static_cast<std::size_t>(i % 3)];
        sent.sent_at = last - i * 6h;
        sent.id = key_time(sent.sent_at) + "_" + sent.reminder_type;
        sent.text = {"Payment reminder", std::string(500, 'a'), ""};
        sent.delivery = DeliveryStatus::sent;
        request.tables.front().writes.emplace_back(store::BatchPut{sent_item(Keys(""), sent)});
      }
      CHECK(engine_->batch_write_item(request));
    }
    // The first look reads it all, and then the guard stands.
    const auto guard = records_.guard(Keys(""), customer);
    CHECK(guard);
    Commit commit = records_.begin();
    commit.move_guard(Keys(""), customer, *guard, *guard);
    CHECK(records_.write(std::move(commit)));
  }
  Operation deciding(const std::string& customer) {
    return [this, customer] {
      const auto standing = read_standing(records_, customers_, mail_, Keys(""), customer, "john@example.com", {});
      CHECK(standing && standing->stopped.empty());
      CHECK(records_.rules().decide("first", standing->guard.last, clock_.now()).is_allowed());
    };
  }

 private:
  struct Sample {
    std::string table;
    item::Item item;
  };

  std::string next_customer() {
    const std::string number = std::to_string(++customers_made_);
    return sample_customer.substr(0, sample_customer.size() - number.size()) + number;
  }
  Draft draft_of(const std::string& customer) const {
    Draft draft;
    draft.created_at = draft.updated_at = clock_.now();
    draft.id = key_time(draft.created_at) + "_" + customer;
    draft.customer_id = customer;
    draft.customer_name = "John Doe";
    draft.customer_email = "john@example.com";
    draft.reminder_type = "first";
    draft.text = {"Payment reminder", std::string(500, 'a'), ""};
    draft.version = 1;
    return draft;
  }
  Customer customer_of(const std::string& id) const {
    Customer customer;
    customer.id = id;
    customer.name = "John Doe";
    customer.email = "john@example.com";
    customer.version = 1;
    customer.created_at = customer.updated_at = clock_.now();
    return customer;
  }
  Invoice invoice_of(const std::string& customer) const {
    Invoice invoice;
    invoice.customer_id = customer;
    invoice.id = "INV-001";
    invoice.amount = Money::parse("1500.00", "USD").value();
    invoice.due_date = "2026-01-02";
    invoice.version = 1;
    invoice.created_at = invoice.updated_at = clock_.now();
    return invoice;
  }
  void put_customer(const std::string& id) {
    for (const item::Item& item : {customer_item(Keys(""), customer_of(id)), unpaid_item(Keys(""), invoice_of(id))}) {
      store::PutItemRequest request;
      request.table_name = records_.tables().tracking;
      request.item = item;
      CHECK(engine_->put_item(request));
    }
  }
  std::string put_draft(const std::string& customer) {
    store::PutItemRequest request;
    request.table_name = records_.tables().tracking;
    const Draft draft = draft_of(customer);
    request.item = draft_item(Keys(""), draft);
    CHECK(engine_->put_item(request));
    return draft.id;
  }

  const Actor actor_{.tenant = "", .name = "user_123", .key = "", .from = ""};
  base::SystemClock clock_;
  base::SystemRandom random_;
  const store::Retry retry_{random_, [](base::Milliseconds time) { std::this_thread::sleep_for(time); }};
  const outbox::Policy policy_;
  std::unique_ptr<engine::Engine> engine_;
  outbox::StoreLedger ledger_{*engine_, {}, policy_, clock_, random_, retry_};
  outbox::StoreSuppressions suppressions_{*engine_, {}, retry_};
  outbox::WorkSignal signal_;
  outbox::Outbox outbox_{ledger_, suppressions_, policy_, clock_, random_, signal_, {}};
  OutboxReminderMailer mail_{outbox_, *engine_};
  ReminderStore records_{*engine_, {}, Rules::usual(), clock_, random_, retry_};
  Customers customers_{records_};
  Approvals approvals_{records_, customers_, mail_, {.other_person = false, .from = "billing@example.com"}};
  std::string sample_email_;
  std::vector<Sample> samples_;
  std::vector<std::string> drafts_;
  std::atomic<std::size_t> taken_ = 0;
  std::atomic<int> customers_made_ = 0;
};

int run(bool quick, const std::filesystem::path& parent) {
  const base::TemporaryDirectory directory(parent);
  Office office(directory.path() / "store");
  const Plan plan = quick ? Plan{.rounds = 3, .turn = Duration(200)} : Plan{};
  Report report;
  Report::header("approvals", "bare");
  for (const int threads : {1, 16, 64}) {
    office.make_drafts(quick ? 3'000 : 10'000);
    const std::vector<Pace> paces = compete(plan, {by_threads(threads, [&] { return office.approving(); }),
                                                   by_threads(threads, [&] { return office.putting(); })});
    report.row(with_threads("approvals : transactions of their items", threads), paces[0], paces[1], 0.4);
  }
  office.make_history("long", many_sent);
  office.make_history("short", few_sent);
  const std::vector<Pace> paces = compete(plan, {by_threads(1, [&] { return office.deciding("long"); }),
                                                 by_threads(1, [&] { return office.deciding("short"); })});
  report.ceiling("decision after 10,000 reminders : after ten", "time", paces[1].per_second / paces[0].per_second, 1.3);
  std::printf("%d below their bar\n", report.below());
  return 0;
}

}  // namespace

}  // namespace postino::bench

int main(int count, char** arguments) {
  const bool quick = count == 2 && std::string_view(arguments[1]) == "--quick";
  if (count > 1 && !quick) {
    std::fprintf(stderr, "usage: bench_reminders [--quick]\n");
    return 2;
  }
  return postino::bench::run(quick, std::filesystem::path(arguments[0]).parent_path());
}

#include "outbox_store.h"

#include <cstdio>
#include <thread>

#include "base/check.h"

namespace postino::outbox {

OutboxStore::OutboxStore(SpoolChoice spool, std::shared_ptr<base::Clock> clock) : clock_(std::move(clock)) {
  engine::Options options;
  options.directory = directory_.path() / "data";
  options.background = false;
  options.durability = engine::Durability::relaxed;
  options.clock = clock_;
  options.random = std::make_shared<base::SeededRandom>(2);
  auto opened = engine::Engine::open(options);
  CHECK(opened.has_value());
  engine_ = *std::move(opened);
  CHECK(prepare_tables(*engine_, options_.tables).has_value());
  if (spool == SpoolChoice::store) {
    spool_ = std::make_unique<StoreSpool>(*engine_, options_.tables.spool(), random_, patience());
    return;
  }
  auto directory = DirectorySpool::open(spool_directory(), random_);
  CHECK(directory.has_value());
  spool_ = *std::move(directory);
}

// Delays are for others to get on; with the embedded store they are through in an instant.
Patience OutboxStore::patience() {
  return Patience(random_, [](base::Milliseconds) { std::this_thread::yield(); });
}

std::unique_ptr<StoreLedger> OutboxStore::make_ledger() {
  return std::make_unique<StoreLedger>(*engine_, *spool_, *clock_, random_, patience(), options_);
}

std::vector<item::Item> OutboxStore::scan(const std::string& table, const std::optional<std::string>& index) {
  std::vector<item::Item> items;
  store::ScanRequest request;
  request.table_name = table;
  request.index_name = index;
  do {
    const auto page = engine_->scan(request);
    CHECK(page.has_value());
    items.insert(items.end(), page->items.begin(), page->items.end());
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return items;
}

std::string email_id(int number) {
  char text[40];
  std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012d", number);
  return text;
}

NewEmail new_email(std::string id, std::string tenant) {
  NewEmail added;
  added.payload = R"({"from":"ann@example.com","to":"bob@example.com","subject":")" + id + R"(","body_text":"b"})";
  added.email.id = std::move(id);
  added.email.tenant = std::move(tenant);
  added.email.sender = "ann@example.com";
  added.email.recipients = {{"bob@example.com", RecipientState::pending, ""}};
  return added;
}

std::vector<Email> claimed(Ledger& ledger, Pipeline pipeline, int limit, const std::string& owner) {
  auto claim = ledger.claim(pipeline, limit, owner, std::chrono::seconds(30));
  EXPECT_TRUE(claim) << claim.error().message;
  return claim ? std::move(claim->emails) : std::vector<Email>();
}

namespace {

mail::SendResult result_of(const Email& email, mail::Severity severity, const mail::SmtpReply& reply) {
  mail::SendResult result;
  result.severity = severity;
  result.reply = reply;
  for (const Recipient& recipient : email.recipients) result.recipients.push_back({recipient.address, severity, reply});
  return result;
}

}  // namespace

mail::SendResult delivered(const Email& email) {
  return result_of(email, mail::Severity::success, {250, "2.0.0", "250 2.0.0 ok"});
}

mail::SendResult deferred(const Email& email) {
  return result_of(email, mail::Severity::temporary, {450, "4.2.0", "450 4.2.0 busy"});
}

}  // namespace postino::outbox

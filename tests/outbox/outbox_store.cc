#include "outbox_store.h"

#include <cstdio>

#include "base/check.h"

namespace postino::outbox {

OutboxStore::OutboxStore(SpoolChoice spool, std::shared_ptr<base::Clock> clock) : EmbeddedStore(std::move(clock)) {
  CHECK(prepare_tables(engine(), options_.tables).has_value());
  if (spool == SpoolChoice::store) {
    spool_ = std::make_unique<StoreSpool>(engine(), options_.tables.spool(), random(), patience());
    return;
  }
  auto directory = DirectorySpool::open(spool_directory(), random());
  CHECK(directory.has_value());
  spool_ = *std::move(directory);
}

std::unique_ptr<StoreLedger> OutboxStore::make_ledger() {
  return std::make_unique<StoreLedger>(engine(), *spool_, clock(), random(), patience(), options_);
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

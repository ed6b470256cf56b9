// The outbox of this server, as reminders see it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reminders/mail_room.h"
#include "store/store.h"

namespace postino::reminders {

// Is it the e-mail of a reminder, as far as can be told from it alone?
bool is_reminder(const outbox::Email& email);

// Safe to call from any thread.
class OutboxMailRoom final : public MailRoom {
 public:
  // `store` is that of the reminders. `message_id_domain` is the configured one, if there is any. Both must outlive it.
  OutboxMailRoom(outbox::Outbox& outbox, const store::Store& store, std::string message_id_domain = "")
      : outbox_(outbox), store_(store), message_id_domain_(std::move(message_id_domain)) {}

  bool shares_commits() const override { return outbox_.shares_commits(store_); }
  outbox::JoinedOutcome accept_with(const outbox::Payload& payload, const std::string& tenant,
                                    std::vector<store::TransactAction> actions) override;
  base::Result<void> accept(const outbox::Payload& payload, const std::string& tenant) override;
  base::Result<std::optional<MailedReminder>> find(const std::string& email_id, const std::string& tenant) override;
  std::string message_id_of(const std::string& email_id, const std::string& sender) const override;
  base::Result<bool> is_suppressed(const std::string& address, const std::string& tenant) override;
  base::Result<std::optional<MailedReminder>> cancel(const std::string& email_id, const std::string& tenant,
                                                     const std::string& reason) override;
  base::Result<bool> erase(const std::string& email_id, const std::string& tenant) override;

 private:
  outbox::Outbox& outbox_;
  const store::Store& store_;
  const std::string message_id_domain_;
};

}  // namespace postino::reminders

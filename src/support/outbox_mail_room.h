// The outbox of this server, as tickets see it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "store/store.h"
#include "support/mail_room.h"

namespace postino::support {

// Safe to call from any thread.
class OutboxMailRoom final : public MailRoom {
 public:
  // `store` is that of the tickets. `message_id_domain` is the configured one, if there is any. Both must outlive it.
  OutboxMailRoom(outbox::Outbox& outbox, const store::Store& store, std::string message_id_domain = "")
      : outbox_(outbox), store_(store), message_id_domain_(std::move(message_id_domain)) {}

  bool shares_commits() const override { return outbox_.shares_commits(store_); }
  outbox::JoinedOutcome accept_with(const outbox::Payload& payload, const std::string& tenant,
                                    std::vector<store::TransactAction> actions) override;
  base::Result<void> accept(const outbox::Payload& payload, const std::string& tenant) override;
  std::string message_id_of(const std::string& email_id, const std::string& sender) const override;

 private:
  outbox::Outbox& outbox_;
  const store::Store& store_;
  const std::string message_id_domain_;
};

}  // namespace postino::support

// The outbox, as services of this process see it that write e-mails themselves, under ids that they derive: an e-mail
// goes in together with a commit of theirs if that is possible.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mail/address.h"
#include "outbox/accept_once.h"
#include "outbox/email/message_id.h"
#include "outbox/outbox.h"
#include "store/store.h"
#include "store/transaction.h"

namespace postino::outbox {

class Mailer {
 public:
  virtual ~Mailer() = default;

  // Can an e-mail be accepted in one commit with items of the service's store?
  virtual bool shares_commits() const = 0;
  // In one commit with these actions, whose conditions count: reasons of a cancelled transaction begin with those of
  // `actions`, in their order.
  virtual JoinedOutcome accept_with(const Payload& payload, const std::string& tenant,
                                    std::vector<store::TransactAction> actions) = 0;
  // By itself. This e-mail is there already: a success. Another one has its id: corrupt.
  virtual base::Result<void> accept(const Payload& payload, const std::string& tenant) = 0;
  // The Message-ID of an e-mail from this address, without angle brackets.
  virtual std::string message_id_of(const std::string& email_id, const std::string& sender) const = 0;
};

// The outbox of this server. `Interface` is Mailer, or what a service has derived from it. Safe to call from any
// thread.
template <class Interface = Mailer>
class OutboxMailer : public Interface {
 public:
  // `store` is that of the service. `message_id_domain` is the configured one, if there is any. Outbox and store must
  // outlive it.
  OutboxMailer(Outbox& outbox, const store::Store& store, std::string message_id_domain = "")
      : outbox_(outbox), store_(store), message_id_domain_(std::move(message_id_domain)) {}

  bool shares_commits() const override { return outbox_.shares_commits(store_); }
  JoinedOutcome accept_with(const Payload& payload, const std::string& tenant,
                            std::vector<store::TransactAction> actions) override {
    return outbox_.accept_with(payload, tenant, std::move(actions));
  }
  base::Result<void> accept(const Payload& payload, const std::string& tenant) override {
    return accept_once(outbox_, payload, tenant);
  }
  std::string message_id_of(const std::string& email_id, const std::string& sender) const override {
    return outbox::message_id_of(email_id, sender, message_id_domain_)
        .value_or(email_id + "@" + mail::domain_of(sender));
  }

 protected:
  Outbox& own_outbox() { return outbox_; }

 private:
  Outbox& outbox_;
  const store::Store& store_;
  const std::string message_id_domain_;
};

}  // namespace postino::outbox

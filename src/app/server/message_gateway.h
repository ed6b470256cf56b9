// Queues put together: those in the store, connections to brokers, and the service that produces and consumes once.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "app/server/memory_limits.h"
#include "app/settings/messages_settings.h"
#include "messages/connections.h"
#include "messages/service.h"
#include "outbox/queue_intake.h"
#include "store/store.h"
#include "support/answer_intake.h"

namespace postino::app {

class MessageGateway {
 public:
  // Prepares the tables; nothing is connected yet. `local` says that only programs on this machine can call: requests
  // may then describe brokers on this machine, unless the settings say otherwise. The store must outlive it.
  static base::Result<std::unique_ptr<MessageGateway>> create(store::Store& store, const MessagesSettings& settings,
                                                              const idempotency::GuardOptions& keys, bool local,
                                                              const MemoryLimits& memory, const base::Clock& clock);
  ~MessageGateway();

  messages::MessageService& service();
  // What takes e-mails from a queue into the outbox, not started; nullptr when the settings name no queue. The outbox
  // must outlive it, and so must this.
  base::Result<std::unique_ptr<outbox::QueueIntake>> make_intake(outbox::Outbox& outbox);

  // Of a connection; empty: the default one. invalid when there is none of this name.
  base::Result<std::shared_ptr<broker::Broker>> find_broker(const std::string& connection);

  // The same for customers' answers to tickets.
  base::Result<std::unique_ptr<support::AnswerIntake>> make_answer_intake(support::Correspondence& correspondence);

  // Puts a message into a queue of the store, twice under one key, and takes it out. For those who see it run for the
  // first time.
  base::Result<void> show_sample(std::ostream& out);

  // Passwords and certificates of the connections, from these settings; files are read again. Nothing has changed yet.
  base::Result<messages::Connections::Renewal> prepare_renewal(const MessagesSettings& settings);
  // From now on they count. Calls that are under way end with the old ones.
  void renew(messages::Connections::Renewal renewal);

  // The process ends: calls to brokers that still wait are broken off, and no new ones are made.
  void break_off();

  void append_metrics(std::string& out) const;
  std::string describe() const;  // for people: where queues are

 private:
  struct Parts;
  explicit MessageGateway(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace postino::app

// The outbox put together: ledger, spool, transport, pipelines and REST API.
#pragma once

#include <chrono>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "app/server/message_gateway.h"
#include "app/server/settings.h"
#include "base/clock.h"
#include "base/random.h"
#include "net/http.h"
#include "store/store.h"

namespace postino::app {

class OutboxService {
 public:
  // Prepares the tables; the pipelines do not run yet. The store and the gateway must outlive it; with a ledger
  // elsewhere the store still has the sandbox.
  static base::Result<std::unique_ptr<OutboxService>> create(store::Store& store, MessageGateway& gateway,
                                                             const Settings& settings);
  ~OutboxService();

  void start();
  void handle(const net::Request& request, net::Responder respond);
  // Finishes calls and e-mails that are under way. No request may come any more. A ledger that cannot be reached is
  // given so long to come back.
  void stop(std::chrono::seconds grace);

  // Sends an e-mail to the sandbox, waits until it is there, and shows its history. For those who see it run for the
  // first time.
  base::Result<void> show_sample(std::ostream& out);

  // Asks the ledger, which may take its time.
  void append_metrics(std::string& out) const;
  // Why it cannot work at the moment, if it cannot. Answers at once.
  std::optional<std::string> problem() const;
  std::string describe_transport() const;  // for people: where mail goes
  std::string describe_storage() const;    // and where the e-mails are

 private:
  struct Parts;
  explicit OutboxService(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace postino::app

// The outbox put together: ledger, spool, transport, pipelines and REST API, on a store.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "app/outbox_settings.h"
#include "base/clock.h"
#include "base/random.h"
#include "net/http.h"
#include "store/store.h"

namespace postino::app {

class OutboxService {
 public:
  // Prepares the tables; the pipelines do not run yet. The store must outlive it.
  static base::Result<std::unique_ptr<OutboxService>> create(store::Store& store, const OutboxSettings& settings,
                                                             bool log_requests);
  ~OutboxService();

  void start();
  void handle(const net::Request& request, net::Responder respond);
  // Finishes calls and e-mails that are under way. No request may come any more.
  void stop();

  // Sends an e-mail to the sandbox, waits until it is there, and shows its history. For those who see it run for the
  // first time.
  base::Result<void> show_sample(std::ostream& out);

  void append_metrics(std::string& out) const;
  std::string describe_transport() const;  // for people: where mail goes

 private:
  struct Parts;
  explicit OutboxService(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace postino::app

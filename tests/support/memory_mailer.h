// An outbox in memory that shares no commits, for tests.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/check.h"
#include "outbox/mailer.h"

namespace postino::support {

class MemoryMailer final : public outbox::Mailer {
 public:
  bool shares_commits() const override { return false; }
  outbox::JoinedOutcome accept_with(const outbox::Payload&, const std::string&,
                                    std::vector<store::TransactAction>) override {
    CHECK(false);
    return {};
  }
  base::Result<void> accept(const outbox::Payload& payload, const std::string& tenant) override {
    const std::lock_guard lock(mutex_);
    ++tried;
    if (fails) return base::fail(base::ErrorCode::exhausted, "the outbox is away");
    if (!payloads_.emplace(payload.id, payload).second) ++repeats;
    tenants[payload.id] = tenant;
    return {};
  }
  std::string message_id_of(const std::string& email_id, const std::string& sender) const override {
    return email_id + sender.substr(std::min(sender.find('@'), sender.size()));
  }

  std::vector<outbox::Payload> payloads() {
    const std::lock_guard lock(mutex_);
    std::vector<outbox::Payload> all;
    for (const auto& [id, payload] : payloads_) all.push_back(payload);
    return all;
  }

  bool fails = false;  // to be set before use by several threads
  int tried = 0;       // acceptances
  int repeats = 0;     // acceptances of e-mails that were there
  std::map<std::string, std::string> tenants;

 private:
  std::mutex mutex_;
  std::map<std::string, outbox::Payload> payloads_;
};

}  // namespace postino::support

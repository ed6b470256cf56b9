// An outbox in memory that shares no commits, for tests.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "reminders/reminder_mailer.h"

namespace postino::reminders {

class MemoryReminderMailer final : public ReminderMailer {
 public:
  bool shares_commits() const override { return false; }
  outbox::JoinedOutcome accept_with(const outbox::Payload&, const std::string&,
                                    std::vector<store::TransactAction>) override {
    CHECK(false);
    return {};
  }
  base::Result<void> accept(const outbox::Payload& payload, const std::string& tenant) override {
    if (before_accept) before_accept();
    const std::lock_guard lock(mutex_);
    if (fails) return base::fail(base::ErrorCode::exhausted, "the outbox is away");
    if (!emails_.emplace(payload.id, Entry{payload, new_email(payload, tenant)}).second) ++repeats;
    return {};
  }
  base::Result<std::optional<MailedReminder>> find(const std::string& email_id, const std::string& tenant) override {
    const std::lock_guard lock(mutex_);
    if (fails) return base::fail(base::ErrorCode::exhausted, "the outbox is away");
    const auto found = emails_.find(email_id);
    if (found == emails_.end() || found->second.email.tenant != tenant) return std::nullopt;
    return found->second.email;
  }
  std::string message_id_of(const std::string& email_id, const std::string& sender) const override {
    return email_id + sender.substr(std::min(sender.find('@'), sender.size()));
  }
  base::Result<bool> is_suppressed(const std::string& address, const std::string&) override {
    const std::lock_guard lock(mutex_);
    if (fails) return base::fail(base::ErrorCode::exhausted, "the outbox is away");
    return suppressed_.contains(address);
  }
  base::Result<std::optional<MailedReminder>> cancel(const std::string& email_id, const std::string& tenant,
                                                     const std::string& reason) override {
    {
      const std::lock_guard lock(mutex_);
      const auto found = emails_.find(email_id);
      if (!fails && found != emails_.end() && found->second.email.state == outbox::State::ready) {
        found->second.email.state = outbox::State::cancelled;
        found->second.email.reason = reason;
      }
    }
    return find(email_id, tenant);
  }
  base::Result<bool> erase(const std::string& email_id, const std::string&) override {
    const std::lock_guard lock(mutex_);
    if (const auto found = emails_.find(email_id); found != emails_.end()) {
      if (found->second.email.state == outbox::State::processing) return false;
      if (found->second.email.state == outbox::State::ready) found->second.email.state = outbox::State::cancelled;
      found->second.payload = {};
    }
    erased.insert(email_id);
    return true;
  }

  void suppress(const std::string& address) {
    const std::lock_guard lock(mutex_);
    suppressed_.insert(address);
  }
  // As if workers had done something.
  template <class Change>
  void change(const std::string& email_id, const Change& change) {
    const std::lock_guard lock(mutex_);
    change(emails_.at(email_id).email);
  }
  std::vector<outbox::Payload> payloads() {
    const std::lock_guard lock(mutex_);
    std::vector<outbox::Payload> all;
    for (const auto& [id, entry] : emails_) all.push_back(entry.payload);
    return all;
  }

  bool fails = false;            // to be set before use by several threads
  int repeats = 0;               // acceptances of e-mails that were there
  std::set<std::string> erased;  // ids
  std::function<void()> before_accept;

 private:
  struct Entry {
    outbox::Payload payload;
    MailedReminder email;
  };
  static MailedReminder new_email(const outbox::Payload& payload, const std::string& tenant) {
    MailedReminder email;
    email.id = payload.id;
    email.tenant = tenant;
    email.state = outbox::State::ready;
    email.sender = payload.from.address;
    email.tags = payload.tags;
    for (const mail::Mailbox& to : payload.to) email.recipients.push_back({to.address, {}, ""});
    return email;
  }

  std::mutex mutex_;
  std::map<std::string, Entry> emails_;
  std::set<std::string> suppressed_;
};

}  // namespace postino::reminders

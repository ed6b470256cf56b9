#include "outbox/ledger/ledger_copy.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace postino::outbox {

namespace {

// Is it still to be sent, sooner or later?
bool needs_contents(const Email& email) {
  using enum State;
  return email.state == accepted || email.state == intaking || email.state == ready || email.state == processing ||
         email.state == held;
}

// Contents of e-mails that are through may be gone. Without those of others the copy could not be sent.
base::Result<std::optional<std::string>> contents_of(const Email& email, SpoolKind kind, const std::string& path,
                                                     Spool& spool) {
  if (path.empty()) return std::nullopt;
  auto bytes = read_contents(spool, kind, email.id, path, [](std::size_t) { return true; });
  if (bytes) return std::optional(std::move(*bytes));
  if (bytes.error().code != base::ErrorCode::not_found) return base::propagate(bytes.error());
  if (!needs_contents(email)) return std::nullopt;
  return base::fail(base::ErrorCode::not_found,
                    "it is " + std::string(name_of(email.state)) + ", but its contents are not in the spool: " + path);
}

}  // namespace

base::Result<StoredEmail> read_stored(Ledger& ledger, Email email) {
  StoredEmail stored;
  TRY(stored.history, ledger.history(email.id));
  TRY(std::optional<std::string> payload, contents_of(email, SpoolKind::payload, email.payload_path, ledger.spool()));
  stored.payload = std::move(payload).value_or("");
  TRY(stored.message, contents_of(email, SpoolKind::message, email.message_path, ledger.spool()));
  stored.email = std::move(email);
  return stored;
}

base::Result<void> LedgerCopy::visit_page(std::vector<Email>& emails, const Visit& visit) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> ended = false;
  std::mutex mutex;
  base::Result<void> result;
  const auto work = [&] {
    for (std::size_t i = next++; i < emails.size() && !ended; i = next++) {
      const std::string id = emails[i].id;
      const auto visited = visit(emails[i]);
      if (visited) continue;
      const std::lock_guard lock(mutex);
      if (!ended.exchange(true))
        result = base::fail(visited.error().code, "e-mail " + id + ": " + visited.error().message);
    }
  };
  std::vector<std::jthread> workers;
  const std::size_t count = std::min(emails.size(), static_cast<std::size_t>(options_.workers));
  for (std::size_t i = 0; i < count; ++i) workers.emplace_back(work);
  workers.clear();  // waits for them
  return result;
}

base::Result<void> LedgerCopy::visit_all(const Visit& visit, const Progress& progress) {
  ListRequest request;
  request.limit = options_.page;
  std::int64_t done = 0;
  do {
    TRY(EmailPage page, source_.ledger.list(request));
    TRY_VOID(visit_page(page.emails, visit));
    done += static_cast<std::int64_t>(page.emails.size());
    progress(done);
    request.cursor = std::move(page.cursor);
  } while (!request.cursor.empty());
  return {};
}

base::Result<CopyCounts> LedgerCopy::copy(const Progress& progress) {
  CopyCounts counts;
  std::mutex mutex;
  const auto count = [&](std::int64_t CopyCounts::*which) {
    const std::lock_guard lock(mutex);
    ++(counts.*which);
  };
  // The lists come first: a server that is started on the target too early must not write to suppressed addresses.
  if (options_.with_suppressions) {
    TRY(counts.suppressions, copy_suppressions());
  }
  TRY_VOID(visit_all(
      [&](Email& email) -> base::Result<void> {
        TRY(const std::optional<Email> known, target_.ledger.find(email.id));
        if (known) {
          count(&CopyCounts::present);
          return {};
        }
        const std::string id = email.id;
        const auto stored = read_stored(source_.ledger, std::move(email));
        using enum base::ErrorCode;
        if (!stored && (stored.error().code == corrupt || stored.error().code == not_found)) {
          const std::lock_guard lock(mutex);
          counts.failures.push_back(id + ": " + stored.error().message);
          return {};
        }
        if (!stored) return base::propagate(stored.error());
        TRY(const bool restored, target_.ledger.restore(*stored));
        count(restored ? &CopyCounts::copied : &CopyCounts::present);
        return {};
      },
      progress));
  return counts;
}

base::Result<void> LedgerCopy::visit_suppressions(const VisitSuppressions& visit) {
  TRY(const std::vector<std::string> tenants, source_.suppressions.tenants());
  for (const std::string& tenant : tenants) {
    std::string cursor;
    do {
      TRY(const SuppressionPage page, source_.suppressions.list(tenant, cursor, options_.page));
      TRY_VOID(visit(tenant, page));
      cursor = page.cursor;
    } while (!cursor.empty());
  }
  return {};
}

base::Result<std::int64_t> LedgerCopy::copy_suppressions() {
  std::int64_t copied = 0;
  TRY_VOID(visit_suppressions([&](const std::string& tenant, const SuppressionPage& page) -> base::Result<void> {
    for (const Suppression& suppression : page.suppressions) {
      TRY_VOID(target_.suppressions.add(tenant, suppression));
      ++copied;
    }
    return {};
  }));
  return copied;
}

// A tenant's addresses are found in the list of all, too: each is counted once.
base::Result<void> LedgerCopy::compare_suppressions(Comparison& comparison) {
  return visit_suppressions([&](const std::string& tenant, const SuppressionPage& page) -> base::Result<void> {
    std::vector<std::string> addresses;
    for (const Suppression& suppression : page.suppressions) addresses.push_back(suppression.address);
    TRY(const std::vector<Suppression> found, target_.suppressions.find(tenant, addresses));
    std::set<std::string> there;
    for (const Suppression& suppression : found) there.insert(suppression.address);
    comparison.source_suppressions += static_cast<std::int64_t>(addresses.size());
    comparison.target_suppressions += static_cast<std::int64_t>(there.size());
    return {};
  });
}

base::Result<Comparison> LedgerCopy::compare(const Progress& progress) {
  Comparison comparison;
  std::mutex mutex;
  if (options_.with_suppressions) TRY_VOID(compare_suppressions(comparison));
  TRY_VOID(visit_all(
      [&](Email& email) -> base::Result<void> {
        const bool is_over = options_.is_over && options_.is_over(email);
        std::optional<Email> known;
        if (!is_over) {
          TRY(known, target_.ledger.find(email.id));
        }
        const std::lock_guard lock(mutex);
        if (is_over) {
          ++comparison.over;
          return {};
        }
        ++comparison.source[static_cast<std::size_t>(email.state)];
        if (known) ++comparison.target[static_cast<std::size_t>(known->state)];
        return {};
      },
      progress));
  return comparison;
}

}  // namespace postino::outbox

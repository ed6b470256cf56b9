#include "reminders/imports.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "base/hash.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "base/timestamp.h"
#include "json/writer.h"
#include "reminders/text/csv.h"

namespace postino::reminders {

namespace {

constexpr std::size_t import_workers = 8;  // writes wait for the disk together

struct TakenLine {
  bool changed = false;
  Recalled recalled;
};

// What the workers of one import have done so far.
class ImportProgress {
 public:
  void add(const ImportLine& line, const OrRefusal<TakenLine>& outcome) {
    const std::lock_guard lock(mutex_);
    if (outcome) {
      ++(outcome->changed ? report_.taken : report_.unchanged);
      report_.recalled.add(outcome->recalled);
      return;
    }
    refuse_line(line, outcome.error());
    const RefusalKind kind = outcome.error().kind;
    if (kind == RefusalKind::unavailable || kind == RefusalKind::outcome_unknown) is_store_down_ = true;
  }

  // The store has failed: what is left would fail, too, only more slowly.
  bool is_store_down() const { return is_store_down_; }

  void refuse_untried(const ImportLine& line) {
    const std::lock_guard lock(mutex_);
    ++report_.refused;
    report_.lines.push_back({line.line, "", "was not tried, because the store failed; import it again"});
  }

  ImportReport take() {
    std::ranges::stable_sort(report_.lines, {}, &RefusedLine::line);
    return std::move(report_);
  }

 private:
  void refuse_line(const ImportLine& line, const Refusal& refusal) {
    ++report_.refused;
    for (const FieldFault& fault : refusal.faults) report_.lines.push_back({line.line, fault.field, fault.rule});
    if (!refusal.faults.empty()) return;
    const bool names_customer = refusal.kind == RefusalKind::unknown_customer;
    const bool names_invoice = refusal.kind == RefusalKind::wrong_state;
    std::string rule = refusal.message;
    if (refusal.kind == RefusalKind::outcome_unknown) rule += "; it may have been stored; import it again";
    report_.lines.push_back({line.line, names_customer ? "customer_id" : names_invoice ? "invoice_id" : "", rule});
  }

  std::mutex mutex_;
  ImportReport report_;
  std::atomic<bool> is_store_down_ = false;
};

template <class T>
TakenLine taken_line(Taken<T> taken, std::string_view customer_id) {
  const auto name = [&](std::vector<std::string>& ids) {
    for (std::string& id : ids) id = std::string(customer_id) + "/" + id;
  };
  name(taken.recalled.cancelled);
  name(taken.recalled.perhaps_sent);
  name(taken.recalled.being_sent);
  name(taken.recalled.not_recalled);
  return {taken.changed, std::move(taken.recalled)};
}

OrRefusal<TakenLine> take_line(Customers& customers, const ImportLine& line, const Actor& actor) {
  if (!line.faults.empty()) {
    Refusal refusal;
    for (const json::FieldError& fault : line.faults) refusal.faults.push_back({fault.field, fault.rule});
    return base::propagate(std::move(refusal));
  }
  if (line.customer) {
    TRY(Taken<Customer> taken, customers.take(*line.customer, actor, line.says_more));
    return taken_line(std::move(taken), line.customer_id());
  }
  TRY(Taken<Invoice> taken, customers.take_invoice(*line.invoice, actor, line.says_more));
  return taken_line(std::move(taken), line.customer_id());
}

std::vector<std::string> customer_row(const Customer& customer) {
  return {customer.id, customer.name, customer.email, customer.opted_out ? "true" : "false"};
}

std::vector<std::string> invoice_row(const Invoice& invoice) {
  return {invoice.customer_id,
          invoice.id,
          invoice.amount.amount_text(),
          invoice.amount.currency,
          invoice.due_date,
          Money{invoice.paid, invoice.amount.currency}.amount_text(),
          invoice.known_paid_at() ? base::format_timestamp(*invoice.known_paid_at()) : ""};
}

void append_row(std::string& out, ImportFormat format, const std::vector<ImportColumn>& columns,
                const std::vector<std::string>& row) {
  if (format == ImportFormat::csv) return append_csv(out, row);
  json::Writer writer(out);
  writer.begin_object();
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (!row[i].empty()) writer.key(columns[i].name).string(row[i]);
  writer.end_object();
  out += '\n';
}

}  // namespace

OrRefusal<ImportReport> Imports::run(ImportKind kind, ImportFormat format, std::string_view text, const Actor& actor) {
  const auto read = read_import(kind, format, text);
  if (!read) return refuse_field(read.error().field, read.error().rule);
  const std::vector<ImportLine>& lines = *read;
  std::array<std::vector<const ImportLine*>, import_workers> shares;
  for (const ImportLine& line : lines) shares[base::fast_hash(line.customer_id()) % import_workers].push_back(&line);
  ImportProgress progress;
  const auto work = [&](const std::vector<const ImportLine*>& share) {
    for (const ImportLine* const line : share)
      if (progress.is_store_down())
        progress.refuse_untried(*line);
      else
        progress.add(*line, take_line(customers_, *line, actor));
  };
  {
    base::ThreadGroup workers;
    for (const auto& share : shares)
      if (!share.empty() && !workers.try_start([&] { work(share); })) work(share);
  }
  return progress.take();
}

OrRefusal<ExportPart> Imports::export_part(ImportKind kind, ImportFormat format, const PageRequest& page,
                                           const std::string& tenant) {
  const std::vector<ImportColumn>& columns = import_columns(kind);
  ExportPart part;
  if (format == ImportFormat::csv && page.cursor.empty()) {
    std::vector<std::string> header;
    for (const ImportColumn& column : columns) header.emplace_back(column.name);
    append_csv(part.text, header);
  }
  if (kind == ImportKind::customers) {
    TRY(const Page<Customer> customers, customers_.list(page, tenant));
    for (const Customer& customer : customers.entries) append_row(part.text, format, columns, customer_row(customer));
    part.cursor = customers.cursor;
  } else {
    TRY(const Page<Invoice> invoices, customers_.all_invoices(page, tenant));
    for (const Invoice& invoice : invoices.entries) append_row(part.text, format, columns, invoice_row(invoice));
    part.cursor = invoices.cursor;
  }
  return part;
}

}  // namespace postino::reminders

#include "exchange/exchange.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/this_thread.h"
#include "exchange/transfer_text.h"
#include "store/constraints.h"

namespace postino::exchange {

namespace {

constexpr std::string_view export_record = "export/";
constexpr std::string_view import_record = "import/";
constexpr std::chrono::minutes shortest_window{15};
constexpr std::chrono::hours longest_window{24};

std::string end_of(const std::string& arn) { return arn.substr(arn.rfind('/') + 1); }

store::TransferRecord record_of(const ExportDescription& description) {
  return {std::string(export_record) + end_of(description.arn), text_of(description)};
}
store::TransferRecord record_of(const ImportDescription& description) {
  return {std::string(import_record) + end_of(description.arn), text_of(description)};
}

store::Answer<void> check_window(const ExportRequest& request) {
  const auto refuse = [](const std::string& rule) {
    return store::refuse(store::ErrorType::invalid_export_time, "Invalid Request: " + rule);
  };
  const auto length = *request.to - *request.from;
  if (length < shortest_window) return refuse("the period of an incremental export must be at least 15 minutes");
  if (length > longest_window) return refuse("the period of an incremental export must be at most 24 hours");
  return {};
}

// The prefix is a part of names of objects.
store::Answer<void> check_place(const std::string& bucket, const std::string& prefix) {
  if (bucket.empty()) return store::refuse_invalid("The bucket must not be empty");
  const std::string name = prefix.ends_with('/') ? prefix.substr(0, prefix.size() - 1) : prefix;
  if (name.empty()) return {};
  if (const auto sound = objects::check_object_name(name); !sound)
    return store::refuse_invalid("The prefix cannot be used: " + sound.error().message);
  return {};
}

template <class Description>
bool is_unfinished(const Description& description) {
  return description.status == TransferStatus::in_progress;
}

// The transfer that a token began, as long as it is remembered.
template <class Description>
const Description* find_token(const std::map<std::string, Description>& transfers, const std::string& token,
                              base::TimePoint now, base::Milliseconds life) {
  if (token.empty()) return nullptr;
  for (const auto& [id, each] : transfers)
    if (each.request.token == token && (!each.ended || *each.ended + life > now)) return &each;
  return nullptr;
}

template <class Description>
TransferList<Description> list(const std::map<std::string, Description>& transfers, const ListTransfersRequest& request,
                               const auto& is_wanted) {
  TransferList<Description> found;
  for (auto each = request.after.empty() ? transfers.begin() : transfers.upper_bound(end_of(request.after));
       each != transfers.end(); ++each) {
    if (!is_wanted(each->second)) continue;
    if (found.transfers.size() == static_cast<std::size_t>(request.most)) {
      found.next = found.transfers.back().arn;
      break;
    }
    found.transfers.push_back(each->second);
  }
  return found;
}

}  // namespace

Exchange::Exchange(store::TableTransfers& store, Buckets& buckets, ExchangeOptions options, const base::Clock& clock,
                   base::Random& random)
    : store_(store), buckets_(buckets), options_(std::move(options)), clock_(clock), random_(random) {}

Exchange::~Exchange() { stop(); }

store::Answer<std::unique_ptr<Exchange>> Exchange::open(store::TableTransfers& store, Buckets& buckets,
                                                        ExchangeOptions options, const base::Clock& clock,
                                                        base::Random& random) {
  std::unique_ptr<Exchange> exchange(new Exchange(store, buckets, std::move(options), clock, random));
  TRY(const std::vector<store::TransferRecord> records, store.records());
  for (const store::TransferRecord& record : records) {
    if (record.id.starts_with(export_record)) {
      if (auto description = read_export(record.text))
        exchange->exports_.emplace(record.id.substr(export_record.size()), *std::move(description));
    } else if (record.id.starts_with(import_record)) {
      if (auto description = read_import(record.text))
        exchange->imports_.emplace(record.id.substr(import_record.size()), *std::move(description));
    }
  }
  return exchange;
}

void Exchange::start() {
  stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void Exchange::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Exchange::run() {
  base::name_thread("exchange");
  base::lower_thread_priority();
  while (!stopping_) {
    if (run_once()) continue;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return stopping_ || std::ranges::any_of(exports_, [](const auto& each) { return is_unfinished(each.second); }) ||
             std::ranges::any_of(imports_, [](const auto& each) { return is_unfinished(each.second); });
    });
  }
}

bool Exchange::run_once() {
  std::optional<ExportDescription> next_export;
  std::optional<ImportDescription> next_import;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, each] : exports_)
      if (!next_export && is_unfinished(each)) next_export = each;
    for (const auto& [id, each] : imports_)
      if (!next_import && is_unfinished(each)) next_import = each;
  }
  if (next_export && next_import && next_import->started < next_export->started) next_export.reset();
  if (next_export)
    run_export(*std::move(next_export));
  else if (next_import)
    run_import(*std::move(next_import));
  else
    return false;
  return true;
}

std::string Exchange::new_id() const {
  constexpr std::size_t time_digits = 17;
  constexpr std::size_t random_bytes = 4;
  const std::string time = std::to_string(base::epoch_milliseconds(clock_.now()) * 1'000);
  std::string random;
  base::append_big_endian(random, random_.next());
  std::string id(time_digits - std::min(time_digits, time.size()), '0');
  return id.append(time).append("-").append(base::to_hex(std::string_view(random).substr(0, random_bytes)));
}

// What has ended long ago goes.
void Exchange::forget_old() {
  std::vector<std::string> old;
  {
    const std::lock_guard lock(mutex_);
    const auto is_old = [&](const auto& each) {
      return each.second.ended && *each.second.ended + options_.kept <= clock_.now();
    };
    for (const auto& each : exports_)
      if (is_old(each)) old.push_back(std::string(export_record) + each.first);
    for (const auto& each : imports_)
      if (is_old(each)) old.push_back(std::string(import_record) + each.first);
    std::erase_if(exports_, is_old);
    std::erase_if(imports_, is_old);
  }
  for (const std::string& id : old)
    if (const auto removed = store_.remove_record(id); !removed)
      base::log_warning("exchange", "the record of an old transfer could not be removed",
                        {{"reason", removed.error().message}});
}

store::Answer<void> Exchange::check_room() {
  forget_old();
  const std::lock_guard lock(mutex_);
  const auto unfinished = std::ranges::count_if(exports_, [](const auto& each) { return is_unfinished(each.second); }) +
                          std::ranges::count_if(imports_, [](const auto& each) { return is_unfinished(each.second); });
  if (static_cast<std::size_t>(unfinished) >= options_.most_unfinished)
    return store::refuse(store::ErrorType::limit_exceeded, "Subscriber limit exceeded: There is a limit of " +
                                                               std::to_string(options_.most_unfinished) +
                                                               " exports and imports at a time");
  if (exports_.size() + imports_.size() >= options_.most_kept)
    return store::refuse(store::ErrorType::limit_exceeded, "Subscriber limit exceeded: There is a limit of " +
                                                               std::to_string(options_.most_kept) +
                                                               " exports and imports within 90 days");
  return {};
}

store::Answer<ExportDescription> Exchange::export_table(ExportRequest request) {
  TRY_VOID(check_place(request.bucket, request.prefix));
  for (auto* const time : {&request.time, &request.from, &request.to})
    if (*time) *time = std::chrono::floor<std::chrono::seconds>(**time);
  const std::lock_guard begin(begin_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (const auto* known = find_token(exports_, request.token, clock_.now(), options_.token_life)) {
      if (fingerprint_of(known->request) == fingerprint_of(request)) return *known;
      return store::refuse(store::ErrorType::export_conflict,
                           "Export conflict: Duplicate request detected with conflicting parameters");
    }
  }
  if (request.is_incremental) TRY_VOID(check_window(request));
  TRY_VOID(check_room());
  ExportDescription description;
  TRY(description.table, store_.past_table(request.table_arn, request.is_incremental ? request.to : request.time));
  if (request.is_incremental) {
    TRY_VOID(store_.past_table(request.table_arn, request.from));
  }
  if (request.token.empty()) request.token = base::make_uuid(random_);
  description.arn = request.table_arn + "/export/" + new_id();
  description.started = clock_.now();
  description.request = std::move(request);
  TRY_VOID(store_.put_record(record_of(description)));
  {
    const std::lock_guard lock(mutex_);
    exports_[end_of(description.arn)] = description;
  }
  changed_.notify_all();
  return description;
}

store::Answer<ExportDescription> Exchange::describe_export(const std::string& arn) const {
  const std::lock_guard lock(mutex_);
  const auto found = exports_.find(end_of(arn));
  if (found == exports_.end() || found->second.arn != arn)
    return store::refuse(store::ErrorType::export_not_found, "Export not found: " + arn);
  return found->second;
}

store::Answer<TransferList<ExportDescription>> Exchange::list_exports(const ListTransfersRequest& request) const {
  const std::lock_guard lock(mutex_);
  return list(exports_, request, [&](const ExportDescription& each) {
    return !request.table_arn || each.request.table_arn == *request.table_arn;
  });
}

store::Answer<ImportDescription> Exchange::import_table(ImportRequest request) {
  TRY_VOID(check_place(request.bucket, request.prefix));
  const std::lock_guard begin(begin_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (const auto* known = find_token(imports_, request.token, clock_.now(), options_.token_life)) {
      if (fingerprint_of(known->request) == fingerprint_of(request)) return *known;
      return store::refuse(store::ErrorType::import_conflict,
                           "Import conflict: Duplicate request detected with conflicting parameters");
    }
  }
  TRY_VOID(check_room());
  if (request.token.empty()) request.token = base::make_uuid(random_);
  ImportDescription description;
  description.table_name = request.table.table_name;
  description.table_arn =
      "arn:aws:dynamodb:" + options_.region + ":" + options_.account + ":table/" + description.table_name;
  description.arn = description.table_arn + "/import/" + new_id();
  description.started = clock_.now();
  description.request = std::move(request);
  TRY(const store::TableDescription table, store_.begin_import(description.request.table, record_of(description)));
  description.table_id = table.id;
  {
    const std::lock_guard lock(mutex_);
    imports_[end_of(description.arn)] = description;
  }
  changed_.notify_all();
  return description;
}

store::Answer<ImportDescription> Exchange::describe_import(const std::string& arn) const {
  const std::lock_guard lock(mutex_);
  const auto found = imports_.find(end_of(arn));
  if (found == imports_.end() || found->second.arn != arn)
    return store::refuse(store::ErrorType::import_not_found, "Import not found: " + arn);
  return found->second;
}

store::Answer<TransferList<ImportDescription>> Exchange::list_imports(const ListTransfersRequest& request) const {
  const std::lock_guard lock(mutex_);
  return list(imports_, request, [&](const ImportDescription& each) {
    return !request.table_arn || each.table_arn == *request.table_arn;
  });
}

}  // namespace postino::exchange

#include "app/server/support_service.h"

#include "app/store/bucket.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/this_thread.h"
#include "objects/directory_objects.h"
#include "objects/large_item_store.h"
#include "objects/object_upkeep.h"
#include "objects/s3_objects.h"
#include "outbox/mailer.h"

namespace postino::app {

namespace {

constexpr base::Milliseconds index_pause{100};  // between looks whether an index is filled
constexpr int most_index_pauses = 36'000;       // an hour: a large table takes its time

}  // namespace

// In the order they are built; each may use those above it.
struct SupportService::Parts {
  base::SystemRandom random;
  base::Pause pause;
  const store::Retry retry{random, [this](base::Milliseconds delay) { pause.wait(delay); }};
  std::unique_ptr<objects::ObjectStore> objects;
  objects::S3Objects* bucket = nullptr;  // the object store, when it is one
  std::unique_ptr<objects::LargeItemStore> store;
  // Of those who follow the stream of tickets, on a store that other processes use, too; nullptr on another one.
  std::unique_ptr<store::Lease> adoption_lease;
  std::unique_ptr<store::Lease> cleaner_lease;
  std::unique_ptr<outbox::Mailer> mailer;
  std::unique_ptr<support::SupportDesk> desk;
  std::unique_ptr<objects::ObjectCleaner> cleaner;
  std::unique_ptr<objects::ObjectUpkeep> upkeep;  // once it is started

  void build_leases(store::Store& table_store, const Settings& settings, const base::Clock& clock);
  base::Result<void> build_objects(const Settings& settings, const base::Clock& clock,
                                   std::shared_ptr<signature::KeySource> keys,
                                   std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline);
  base::Result<void> build(store::Store& table_store, outbox::Outbox& outbox, const Settings& settings,
                           const base::Clock& clock);
};

base::Result<void> SupportService::Parts::build_objects(
    const Settings& settings, const base::Clock& clock, std::shared_ptr<signature::KeySource> keys,
    std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline) {
  const ObjectSettings& wanted = settings.objects;
  if (wanted.bucket.empty()) {
    TRY(objects, objects::DirectoryObjects::open(objects_directory(settings), bucket_of_directory, clock, random));
    return {};
  }
  TRY(auto made,
      open_bucket(wanted.bucket, wanted, {clock, random, pause, std::move(keys), std::move(shutdown_deadline)}));
  bucket = made.get();
  objects = std::move(made);
  return {};
}

// They are in the table of keys, which has no change stream: each renewal is a change.
void SupportService::Parts::build_leases(store::Store& table_store, const Settings& settings,
                                         const base::Clock& clock) {
  if (!table_store.is_shared()) return;
  const std::string owner = base::make_uuid(random);
  const auto lease = [&](const std::string& follower) {
    const item::Key key{{"pk", "LEASE#" + settings.tickets.table + "#" + follower}};
    return std::make_unique<store::Lease>(table_store, settings.idempotency.table, key, owner, clock);
  };
  adoption_lease = lease("adoption");
  cleaner_lease = lease("objects");
}

base::Result<void> SupportService::Parts::build(store::Store& table_store, outbox::Outbox& outbox,
                                                const Settings& settings, const base::Clock& clock) {
  const TicketSettings& wanted = settings.tickets;
  support::SupportOptions options;
  options.tables.tickets = wanted.table;
  options.tables.data = wanted.data;
  options.tables.shards.count = wanted.shards;
  options.letters = {.from = wanted.from,
                     .reply_to = wanted.reply_to,
                     .acknowledges = wanted.acknowledge,
                     .engineers = wanted.engineers};
  options.attachments.bytes = static_cast<std::size_t>(wanted.attachment_megabytes) << 20;
  options.attachments.ticket_bytes = 5 * options.attachments.bytes;
  options.objects = objects.get();
  options.adopts = !wanted.no_adoption;
  build_leases(table_store, settings, clock);
  options.adoption_lease = adoption_lease.get();

  // The table is there before the store is made that knows its keys.
  int pauses = 0;
  const auto wait = [&] {
    if (pauses == 0) base::log_info("serve", "waits for indexes of the table of tickets", {{"table", wanted.table}});
    pause.wait(index_pause);
    return ++pauses < most_index_pauses;
  };
  support::TicketStore tables(table_store, options.tables, clock, random, retry);
  TRY_VOID(tables.prepare(wait));
  options.tables = tables.tables();
  TRY(objects::LargeItemTable described, objects::describe_large_item_table(table_store, wanted.table));
  cleaner = std::make_unique<objects::ObjectCleaner>(
      table_store, *objects, described.keyed, std::vector{objects::large_items_kind(), support::attachments_kind()},
      clock, objects::CleanerOptions{.lease = cleaner_lease.get()});
  store = std::make_unique<objects::LargeItemStore>(table_store, *objects, std::vector{std::move(described)}, clock,
                                                    random);
  // The outbox commits past the store above. A ticket with attributes in the object store is therefore written without
  // its e-mail, which is handed over afterwards: see TicketWriter.
  mailer = std::make_unique<outbox::OutboxMailer<>>(outbox, table_store, settings.outbox.message_id_domain);
  desk = std::make_unique<support::SupportDesk>(*store, *mailer, options, clock, random, retry);
  return {};
}

SupportService::SupportService(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SupportService::~SupportService() { stop(); }

base::Result<std::unique_ptr<SupportService>> SupportService::create(
    store::Store& store, outbox::Outbox& outbox, const Settings& settings, const base::Clock& clock,
    std::shared_ptr<signature::KeySource> keys, std::shared_ptr<const net::ShutdownDeadline> shutdown_deadline) {
  auto parts = std::make_unique<Parts>();
  TRY_VOID(parts->build_objects(settings, clock, std::move(keys), std::move(shutdown_deadline)));
  TRY_VOID(parts->build(store, outbox, settings, clock));
  return std::unique_ptr<SupportService>(new SupportService(std::move(parts)));
}

support::SupportDesk& SupportService::desk() { return *parts_->desk; }

void SupportService::start() {
  parts_->desk->start();
  parts_->upkeep = std::make_unique<objects::ObjectUpkeep>(*parts_->cleaner);
}

void SupportService::stop() {
  parts_->desk->stop();
  parts_->pause.end();
  parts_->upkeep.reset();
}

std::optional<std::string> SupportService::trouble() const {
  const auto problem = parts_->bucket != nullptr ? parts_->bucket->problem() : std::nullopt;
  if (!problem) return std::nullopt;
  return "the object store of attachments: " + *problem;
}

void SupportService::append_metrics(std::string& out) const {
  if (parts_->bucket != nullptr)
    base::append_metric(out, "postino_objects_up", "gauge",
                        "Whether the object store could be used at the last attempt.",
                        parts_->bucket->problem() ? "0" : "1");
  if (!parts_->upkeep) return;
  const objects::CleanerCounts counts = parts_->upkeep->counts();
  base::append_metric(out, "postino_objects_removed_total", "counter",
                      "Objects that were removed because their items are gone.", std::to_string(counts.removed));
  base::append_metric(out, "postino_objects_orphans_total", "counter",
                      "Objects that were removed because nothing referred to them.", std::to_string(counts.orphans));
}

std::filesystem::path objects_directory(const Settings& settings) {
  return settings.objects.directory.empty() ? settings.data / "objects"
                                            : std::filesystem::path(settings.objects.directory);
}

void remove_empty_objects(const Settings& settings) {
  // An operator who names a directory has made it, perhaps.
  if (!settings.objects.directory.empty() || !settings.objects.bucket.empty()) return;
  std::error_code error;
  const std::filesystem::path directory = objects_directory(settings);
  std::filesystem::remove(directory / ".unfinished", error);  // each only if it is empty
  std::filesystem::remove(directory, error);
}

}  // namespace postino::app

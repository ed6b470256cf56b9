#include "engine/tables/kept_image.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/hash.h"

namespace postino::engine {

namespace {

constexpr std::size_t most_backups = 10'000;
constexpr base::Milliseconds deleted_table_retention = std::chrono::days(35);

}  // namespace

store::Answer<void> check_room_for_backup(const CatalogState& state) {
  if (state.backups.size() < most_backups) return {};
  return store::refuse(store::ErrorType::limit_exceeded,
                       "Subscriber limit exceeded: There is a limit of 10000 backups per subscriber");
}

std::string new_backup_id(const Core& core, const CatalogState& state) {
  constexpr std::size_t time_digits = 14;
  constexpr std::size_t random_bytes = 4;
  while (true) {
    const std::string time = std::to_string(base::epoch_milliseconds(core.now()));
    std::string random;
    base::append_big_endian(random, core.options.random->next());
    std::string id(time_digits - std::min(time_digits, time.size()), '0');
    id.append(time).append("-").append(base::to_hex(std::string_view(random).substr(0, random_bytes)));
    if (!state.backups.contains(id)) return id;
  }
}

Table kept_definition(const Table& table) {
  Table kept = table;
  kept.transition.reset();
  kept.restore.reset();
  kept.recovery.reset();
  kept.is_recorded = false;
  kept.policy.reset();
  kept.insights.reset();
  kept.tags.clear();
  kept.traffic = std::make_shared<ObservedTraffic>();
  return kept;
}

std::optional<base::Milliseconds> kept_after_deletion(const Core& core, const Table& table) {
  if (table.restore || table.is_imported) return std::nullopt;  // it never was whole
  base::Milliseconds kept = core.options.deletion_delay;
  if (table.recovery) kept = std::max(kept, deleted_table_retention);
  return kept > base::Milliseconds::zero() ? std::optional(kept) : std::nullopt;
}

void keep_as_backup(const Core& core, const Table& table, base::Milliseconds kept, CatalogState& state,
                    CommitEntry& entry) {
  Backup backup;
  backup.id = new_backup_id(core, state);
  backup.name = table.name + std::string(deleted_table_backup_suffix);
  backup.type = store::BackupType::system;
  backup.created = core.now();
  backup.expires = backup.created + kept;
  backup.table = kept_definition(table);
  put_backup(state, entry, std::move(backup));
}

}  // namespace postino::engine

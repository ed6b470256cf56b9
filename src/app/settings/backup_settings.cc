#include "app/settings/backup_settings.h"

#include <algorithm>
#include <array>

#include "app/settings/setting_values.h"
#include "objects/object_store.h"

namespace postino::app {

namespace {

constexpr std::array<std::string_view, 3> key_sources = {"file:", "env:", "command:"};

base::Result<void> take_backup_place(Settings& settings, const std::string& text) {
  if (const auto place = parse_bucket_place(text)) {
    TRY_VOID(objects::check_bucket_name(place->bucket));
    const bool has_prefix = !place->prefix.empty() || text.ends_with('/');
    if (has_prefix && !objects::check_object_name(place->prefix))
      return base::invalid("must be a directory or s3://BUCKET/PREFIX, without a slash at the end");
  }
  settings.backups.place = text;
  return {};
}

base::Result<void> take_backup_interval(Settings& settings, const std::string& text) {
  const auto every = parse_duration(text);
  if (!every || (every->count() != 0 && *every < std::chrono::minutes(1)) || *every > std::chrono::days(35))
    return base::invalid("must be a duration from 1m to 35d, or 0s for none by themselves");
  settings.backups.every = *every;
  return {};
}

base::Result<void> take_backup_kept(Settings& settings, const std::string& text) {
  const auto kept = parse_duration(text);
  if (!kept || *kept < std::chrono::hours(1) || *kept > std::chrono::days(3'650))
    return base::invalid("must be a duration from 1h to 3650d");
  settings.backups.kept = *kept;
  return {};
}

base::Result<void> take_backup_key(Settings& settings, const std::string& text) {
  const bool is_source = std::ranges::any_of(
      key_sources, [&](std::string_view source) { return text.starts_with(source) && text.size() > source.size(); });
  // What was given may be the key itself, and is not repeated.
  if (!text.empty() && !is_source) return base::invalid("must be file:PATH, env:NAME or command:LINE");
  settings.backups.key = text;
  return {};
}

}  // namespace

std::optional<BucketPlace> bucket_of_backups(const BackupSettings& settings) {
  auto place = parse_bucket_place(settings.place);
  if (place && !place->prefix.empty()) place->prefix += '/';
  return place;
}

std::vector<Setting> backup_settings() {
  using enum SettingKind;
  return {
      {"backup.to", "--backup-to", "POSTINO_BACKUP_TO", "PLACE",
       "directory, or s3://BUCKET/PREFIX, that backups of the store go to", text, take_backup_place,
       show_text<&BackupSettings::place>},
      {"backup.every", "--backup-every", "POSTINO_BACKUP_EVERY", "DURATION",
       "how often a backup is made, from 1m to 35d; 0s: only when it is asked for", text, take_backup_interval,
       show_duration_of<&BackupSettings::every>},
      {"backup.keep", "--backup-keep", "POSTINO_BACKUP_KEEP", "DURATION",
       "how long backups are kept, from 1h to 3650d; the last three always are", text, take_backup_kept,
       show_duration_of<&BackupSettings::kept>},
      {"backup.key", "--backup-key", "POSTINO_BACKUP_KEY", "SOURCE",
       "where the master key is that seals backups: file:PATH, env:NAME or command:LINE; without it they can be read "
       "by those who get them",
       text, take_backup_key, show_text<&BackupSettings::key>},
  };
}

base::Result<void> check_backups(const Settings& settings) {
  if (settings.backups.place.empty()) return {};
  SettingErrors errors;
  if (settings.store == StoreKind::dynamodb)
    errors.add("--backup-to is about the embedded store: with --store dynamodb, use the backups of that store");
  if (bucket_of_backups(settings.backups))
    errors.add(check_bucket(settings.objects, "--backup-to " + settings.backups.place, false));
  return errors.result();
}

}  // namespace postino::app

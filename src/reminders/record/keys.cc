#include "reminders/record/keys.h"

#include <algorithm>
#include <utility>

#include "access/caller_scope.h"
#include "base/hash.h"
#include "base/timestamp.h"

namespace postino::reminders {

namespace {

constexpr std::size_t key_time_length = 15;  // "20250921_143022"

int shard_among(std::string_view text, int shards) {
  return static_cast<int>(base::fast_hash(text) % static_cast<std::uint64_t>(shards));
}

std::string joined(std::string_view prefix, std::string_view kind, std::string_view name) {
  std::string text;
  text.reserve(prefix.size() + kind.size() + name.size());
  return text.append(prefix).append(kind).append(name);
}

}  // namespace

std::string key_time(base::TimePoint time) {
  const std::string text = base::format_timestamp(time);  // "2025-09-21T14:30:22.000Z"
  return text.substr(0, 4) + text.substr(5, 2) + text.substr(8, 2) + "_" + text.substr(11, 2) + text.substr(14, 2) +
         text.substr(17, 2);
}

std::optional<base::TimePoint> parse_key_time(std::string_view text) {
  if (text.size() != key_time_length || text[8] != '_') return std::nullopt;
  std::string full;
  full.append(text.substr(0, 4)).append("-").append(text.substr(4, 2)).append("-").append(text.substr(6, 2));
  full.append("T").append(text.substr(9, 2)).append(":").append(text.substr(11, 2)).append(":");
  full.append(text.substr(13, 2)).append("Z");
  const auto time = base::parse_timestamp(full);
  return time ? std::optional(*time) : std::nullopt;
}

std::string seed_time(base::TimePoint time) { return base::format_timestamp(time).substr(0, 19) + "Z"; }

std::optional<base::TimePoint> parse_seed_time(std::string_view text) {
  constexpr std::size_t date_length = 10;
  const std::string given(text);
  for (const std::string& form : {given, given + "Z", text.size() == date_length ? given + "T00:00:00Z" : given})
    if (const auto time = base::parse_timestamp(form)) return *time;
  return std::nullopt;
}

std::optional<DraftIdParts> parse_draft_id(std::string_view id) {
  if (id.size() < key_time_length + 2 || id[key_time_length] != '_') return std::nullopt;
  const std::string_view time = id.substr(0, key_time_length);
  if (!parse_key_time(time)) return std::nullopt;
  return DraftIdParts{std::string(time), std::string(id.substr(key_time_length + 1))};
}

std::string revision_sort(std::string_view draft_id, int revision) {
  constexpr std::size_t digits = 6;
  const std::string number = std::to_string(revision);
  std::string sort = joined(revision_begin, draft_id, "#");
  if (number.size() < digits) sort.append(digits - number.size(), '0');
  return sort + number;
}

Keys::Keys(std::string tenant, int shards, int most_shards)
    : prefix_(tenant.empty() ? "" : "TENANT#" + tenant + "#"),
      tenant_(std::move(tenant)),
      shards_(shards),
      most_shards_(std::max(shards, most_shards)) {
  access::CallerScope::check(tenant_);
}

std::string Keys::customer(std::string_view id) const { return joined(prefix_, "CUSTOMER#", id); }
std::string Keys::of_template(std::string_view id) const { return joined(prefix_, template_begin, id); }
std::string Keys::branding(std::string_view name) const { return joined(prefix_, "BRANDING#", name); }
std::string Keys::summary(std::string_view date) const { return joined(prefix_, "SUMMARY#", date); }
std::string Keys::audit(std::string_view date) const { return joined(prefix_, "AUDIT#", date); }
std::string Keys::listing(std::string_view name) const { return joined(prefix_, name, ""); }

std::string Keys::email(std::string_view email_id) { return joined("EMAIL#", email_id, ""); }
std::string Keys::watch(int shard) { return joined("WATCH#", std::to_string(shard), ""); }
std::string Keys::handover(int shard) { return joined("HANDOVER#", std::to_string(shard), ""); }
std::string Keys::erasures() { return "ERASURES"; }
int Keys::work_shard(std::string_view email_id) { return shard_among(email_id, work_shards); }

std::string Keys::status(std::string_view status, std::string_view spread) const {
  std::string partition = joined(prefix_, "STATUS#", status);
  if (shards_ > 1) partition.append("#").append(std::to_string(shard_among(spread, shards_)));
  return partition;
}

std::vector<std::string> Keys::all_of_status(std::string_view status) const {
  const std::string whole = joined(prefix_, "STATUS#", status);
  std::vector<std::string> partitions = {whole};
  for (int shard = 0; most_shards_ > 1 && shard < most_shards_; ++shard)
    partitions.push_back(whole + "#" + std::to_string(shard));
  return partitions;
}

item::Key Keys::key(std::string pk, std::string_view sk) { return {{"PK", std::move(pk)}, {"SK", sk}}; }

}  // namespace postino::reminders

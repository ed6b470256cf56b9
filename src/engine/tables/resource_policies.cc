#include "engine/streams/stream_arn.h"
#include "engine/streams/stream_lifecycle.h"
#include "engine/tables/busy_table_rules.h"
#include "engine/tables/resource_arn.h"
#include "engine/tables/resource_settings.h"
#include "engine/tables/table_timing.h"

namespace postino::engine {

namespace {

store::Error no_policy(const std::string& arn) {
  return {store::ErrorType::policy_not_found, "Resource-based policy not found for the provided ResourceArn: " + arn};
}

StreamPointer stream_named(const Core& core, const CatalogState& state, std::string_view arn) {
  for (const auto& [id, stream] : state.streams)
    if (core.stream_arn(*stream) == arn) return stream;
  return nullptr;
}

// The policy of a table or a stream as the catalog has it; resource_not_found when there is no such thing.
store::Answer<store::ResourcePolicyPointer> kept_policy(const Core& core, const CatalogState& state,
                                                        std::string_view action, const std::string& arn) {
  if (is_stream_arn(arn)) {
    const StreamPointer stream = stream_named(core, state, arn);
    if (!stream) return base::propagate(no_such_resource(arn));
    return stream->policy;
  }
  TRY(const std::string name, table_named_by(core, action, arn));
  const auto table = state.tables.find(name);
  if (table == state.tables.end()) return base::propagate(no_such_resource(arn));
  return table->second->policy;
}

store::Answer<void> check_revision(const store::ResourcePolicyPointer& policy, const std::string& arn,
                                   const std::optional<std::string>& expected) {
  if (!expected) return {};
  const std::string_view revision = policy ? std::string_view(policy->revision) : store::no_policy_revision;
  if (revision == *expected) return {};
  return base::propagate(no_policy(arn));
}

// Gives the table or the stream another policy, or none, and commits.
store::Answer<void> replace(Core& core, std::string_view action, const std::string& arn,
                            const store::ResourcePolicyPointer& policy) {
  const CatalogStatePointer before = core.catalog->state();
  if (is_stream_arn(arn))
    return core.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
      Stream after = *stream_named(core, state, arn);
      after.policy = policy;
      put_stream(entry, after);
      state.streams[after.id] = std::make_shared<const Stream>(std::move(after));
      return {};
    });
  TRY(const std::string name, table_named_by(core, action, arn));
  Table after = *before->tables.at(name);
  TRY_VOID(check_may_change_settings(after));
  after.policy = policy;
  return core.change_catalog([&](CatalogState& state, CommitEntry& entry) -> store::Answer<void> {
    put_table(state, entry, std::move(after));
    return {};
  });
}

// Revisions are times in milliseconds, as on AWS, and each is larger than the one before.
std::string next_revision(const store::ResourcePolicyPointer& before, base::TimePoint now) {
  const std::string next = std::to_string(base::epoch_milliseconds(now));
  if (!before || before->revision < next) return next;
  return std::to_string(std::stoll(before->revision) + 1);
}

store::Answer<void> check_cooldown(const Core& core, const std::string& arn,
                                   const store::ResourcePolicyPointer& before) {
  if (!core.options.realistic_timing || !before) return {};
  const base::TimePoint next = before->changed + timing::resource_policy_cooldown;
  if (core.now() >= next) return {};
  constexpr std::string_view table_part = ":table/";
  std::string name = arn.substr(arn.find(table_part) + table_part.size());
  name.resize(std::min(name.find('/'), name.size()));
  return store::refuse(store::ErrorType::throttling,
                       "Resource-based policy for table " + name + " modified within the previous " +
                           std::to_string(timing::resource_policy_cooldown.count()) +
                           " milliseconds. Please try again after " + stream_label(next) + "Z.");
}

}  // namespace

store::ResourcePolicyPointer ResourceSettings::policy_of(std::string_view arn) const {
  const std::string ours = core_.table_arn("");
  if (!arn.starts_with(ours)) return nullptr;
  const std::string_view path = arn.substr(ours.size());
  const std::size_t name_end = std::min(path.find('/'), path.size());
  const std::string_view below = path.substr(name_end);
  if (below.starts_with("/stream/")) {
    const StreamPointer stream = stream_named(core_, *core_.catalog->state(), arn);
    return stream ? stream->policy : nullptr;
  }
  if (!below.empty() && !below.starts_with("/index/")) return nullptr;
  const TablePointer table = core_.catalog->find(path.substr(0, name_end));
  return table ? table->policy : nullptr;
}

store::Answer<store::ResourcePolicyPointer> ResourceSettings::get_policy(const std::string& arn) {
  TRY(store::ResourcePolicyPointer policy, kept_policy(core_, *core_.catalog->state(), "GetResourcePolicy", arn));
  if (!policy) return base::propagate(no_policy(arn));
  return policy;
}

store::Answer<std::string> ResourceSettings::put_policy(const std::string& arn, const std::string& text,
                                                        const std::optional<std::string>& expected_revision) {
  constexpr std::string_view action = "PutResourcePolicy";
  std::lock_guard control(core_.control_mutex);
  TRY(const store::ResourcePolicyPointer before, kept_policy(core_, *core_.catalog->state(), action, arn));
  TRY_VOID(check_revision(before, arn, expected_revision));
  if (before && before->text == text) return before->revision;
  TRY_VOID(check_cooldown(core_, arn, before));
  const base::TimePoint now = core_.now();
  std::string revision = next_revision(before, now);
  TRY_VOID(replace(core_, action, arn,
                   std::make_shared<const store::ResourcePolicy>(store::ResourcePolicy{text, revision, now})));
  return revision;
}

store::Answer<std::optional<std::string>> ResourceSettings::delete_policy(
    const std::string& arn, const std::optional<std::string>& expected_revision) {
  constexpr std::string_view action = "DeleteResourcePolicy";
  std::lock_guard control(core_.control_mutex);
  TRY(const store::ResourcePolicyPointer before, kept_policy(core_, *core_.catalog->state(), action, arn));
  TRY_VOID(check_revision(before, arn, expected_revision));
  if (!before) return std::optional<std::string>();
  TRY_VOID(check_cooldown(core_, arn, before));
  TRY_VOID(replace(core_, action, arn, nullptr));
  return std::optional(before->revision);
}

}  // namespace postino::engine

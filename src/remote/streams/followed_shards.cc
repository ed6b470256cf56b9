#include "remote/streams/followed_shards.h"

#include <algorithm>

namespace postino::remote {

namespace {

using ShardsById = std::map<std::string, const store::Shard*, std::less<>>;

ShardsById shards_by_id(const std::vector<store::Shard>& described) {
  ShardsById shards;
  for (const store::Shard& shard : described) shards.emplace(shard.id, &shard);
  return shards;
}

}  // namespace

FollowedShard& FollowedShards::add(const store::Shard& shard) {
  FollowedShard followed;
  followed.id = std::make_shared<const std::string>(shard.id);
  followed.parent = shard.parent_id;
  followed.starting = shard.starting;
  return followed_.emplace(shard.id, std::move(followed)).first->second;
}

void FollowedShards::begin(const std::vector<store::Shard>& described) {
  for (const store::Shard& shard : described) add(shard).from_oldest = true;
}

store::Answer<void> FollowedShards::go_on(const std::vector<store::Shard>& described, const store::StreamPlace& place) {
  const ShardsById shards = shards_by_id(described);
  if (place.positions.empty() || place.positions.contains("")) return store::refuse_invalid("Invalid SequenceNumber");
  for (const auto& [id, position] : place.positions) {
    const auto found = shards.find(id);
    if (found == shards.end())
      return store::refuse(store::ErrorType::trimmed_data_access, "The shard " + id + " is not kept any more");
    add(*found->second).position = position;
    // What comes before the place is done.
    for (auto parent = found->second->parent_id; parent;) {
      const auto ancestor = shards.find(*parent);
      if (ancestor == shards.end() || place.positions.contains(*parent) || !done_.insert(*parent).second) break;
      parent = ancestor->second->parent_id;
    }
  }
  look_again(described);
  return {};
}

void FollowedShards::look_again(const std::vector<store::Shard>& described) {
  const ShardsById shards = shards_by_id(described);
  for (const store::Shard& shard : described)
    if (!done_.contains(shard.id) && !followed_.contains(shard.id)) add(shard);
  let_parents_go();
  std::erase_if(followed_, [&](const auto& entry) { return entry.second.has_ended && !shards.contains(entry.first); });
  std::erase_if(done_, [&](const std::string& id) { return !shards.contains(id); });
}

void FollowedShards::let_parents_go() {
  std::set<std::string> parents;
  for (const auto& [id, shard] : followed_)
    if (shard.parent) parents.insert(*shard.parent);
  std::erase_if(followed_, [&](const auto& entry) {
    const bool is_over = entry.second.has_ended && parents.contains(entry.first);
    if (is_over) done_.insert(entry.first);
    return is_over;
  });
}

bool FollowedShards::end(FollowedShard& shard) {
  const std::string id = *shard.id;
  shard.has_ended = true;
  shard.iterator.reset();
  let_parents_go();
  return !followed_.contains(id);
}

std::vector<FollowedShard*> FollowedShards::readable() {
  std::vector<FollowedShard*> shards;
  for (auto& [id, shard] : followed_)
    if (!shard.has_ended && !waits(shard)) shards.push_back(&shard);
  return shards;
}

bool FollowedShards::have_all_been_read() const {
  return std::ranges::all_of(followed_, [](const auto& entry) { return entry.second.has_ended; });
}

bool FollowedShards::has_parent_without_children() const {
  return std::ranges::any_of(followed_, [](const auto& entry) { return entry.second.has_ended; });
}

bool FollowedShards::are_caught_up(base::Milliseconds time, base::Milliseconds described) const {
  return described >= time && std::ranges::all_of(followed_, [&](const auto& entry) {
           const FollowedShard& shard = entry.second;
           return shard.has_ended || (!waits(shard) && shard.caught_up && *shard.caught_up >= time);
         });
}

std::map<std::string, store::SequenceNumber, std::less<>> FollowedShards::positions() const {
  std::map<std::string, store::SequenceNumber, std::less<>> positions;
  for (const auto& [id, shard] : followed_)
    if (!waits(shard) || !shard.position.is_none()) positions.emplace(id, shard.position);
  return positions;
}

store::Answer<void> FollowedShards::check_number() const {
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(followed_, [&](const auto& entry) { return !waits(entry.second); }));
  if (count <= most_shards) return {};
  return store::refuse(store::ErrorType::limit_exceeded, "The stream has " + std::to_string(count) +
                                                             " shards at the same time, and no more than " +
                                                             std::to_string(most_shards) + " can be followed");
}

}  // namespace postino::remote

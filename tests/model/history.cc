#include "history.h"

#include <algorithm>
#include <optional>

namespace postino::model {

namespace {

using Versions = std::map<std::pair<std::string, std::int64_t>, std::size_t>;  // a version's writer

class Precedence {
 public:
  explicit Precedence(std::size_t nodes) : followers_(nodes), waiting_for_(nodes) {}

  void add(std::size_t before, std::size_t after) {
    if (before == after) return;
    followers_[before].push_back(after);
    ++waiting_for_[after];
  }

  // Takes away what nothing stands before until nothing is left; what is left runs in a circle.
  std::vector<std::size_t> nodes_in_circles() {
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < waiting_for_.size(); ++i)
      if (waiting_for_[i] == 0) free.push_back(i);
    while (!free.empty()) {
      const std::size_t node = free.back();
      free.pop_back();
      for (const std::size_t follower : followers_[node])
        if (--waiting_for_[follower] == 0) free.push_back(follower);
    }
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < waiting_for_.size(); ++i)
      if (waiting_for_[i] > 0) left.push_back(i);
    return left;
  }

 private:
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<int> waiting_for_;
};

std::string transaction_text(const Transaction& transaction) {
  std::string text =
      transaction.id + " [" + std::to_string(transaction.begin) + ", " + std::to_string(transaction.end) + "]";
  for (const auto& [key, version] : transaction.reads) text += " read " + key + "=" + std::to_string(version);
  for (const auto& [key, version] : transaction.writes) text += " wrote " + key + "=" + std::to_string(version);
  return text;
}

void add_version_order(const std::vector<Transaction>& history, const Versions& writers, Precedence& precedence) {
  const auto writer = [&](const std::string& key, std::int64_t version) -> std::optional<std::size_t> {
    const auto found = writers.find({key, version});
    return found == writers.end() ? std::nullopt : std::optional<std::size_t>(found->second);
  };
  for (std::size_t i = 0; i < history.size(); ++i) {
    for (const auto& [key, version] : history[i].writes)
      if (const auto earlier = writer(key, version - 1)) precedence.add(*earlier, i);
    for (const auto& [key, version] : history[i].reads) {
      if (const auto seen = writer(key, version)) precedence.add(*seen, i);
      if (const auto later = writer(key, version + 1)) precedence.add(i, *later);
    }
  }
}

// A line of moments stands for the order in time: a transaction comes after the moment it began and before the moment
// it ended, so whatever ended before another began comes before it.
void add_time_order(const std::vector<Transaction>& history, const std::vector<std::int64_t>& moments,
                    Precedence& precedence) {
  const auto node_of = [&](std::int64_t moment) {
    const auto place = std::ranges::lower_bound(moments, moment) - moments.begin();
    return history.size() + static_cast<std::size_t>(place);
  };
  for (std::size_t i = 1; i < moments.size(); ++i) precedence.add(history.size() + i - 1, history.size() + i);
  for (std::size_t i = 0; i < history.size(); ++i) {
    precedence.add(node_of(history[i].begin), i);
    precedence.add(i, node_of(history[i].end));
  }
}

}  // namespace

std::string fault_of_history(const std::vector<Transaction>& history) {
  Versions writers;
  std::vector<std::int64_t> moments;
  for (std::size_t i = 0; i < history.size(); ++i) {
    moments.push_back(history[i].begin);
    moments.push_back(history[i].end);
    for (const auto& [key, version] : history[i].writes)
      if (const auto [other, is_first] = writers.emplace(std::pair(key, version), i); !is_first)
        return "two writers of one version:\n  " + transaction_text(history[other->second]) + "\n  " +
               transaction_text(history[i]);
  }
  for (const auto& [version, writer] : writers)
    if (version.second > 1 && !writers.contains({version.first, version.second - 1}))
      return "no transaction wrote the version before the one of " + transaction_text(history[writer]);
  for (const Transaction& transaction : history)
    for (const auto& [key, version] : transaction.reads)
      if (version > 0 && !writers.contains({key, version}))
        return "no transaction wrote what was read by " + transaction_text(transaction);

  std::ranges::sort(moments);
  Precedence precedence(history.size() + moments.size());
  add_version_order(history, writers, precedence);
  add_time_order(history, moments, precedence);
  std::string text;
  int shown = 0;
  for (const std::size_t node : precedence.nodes_in_circles())
    if (node < history.size() && shown++ < 20) text += "\n  " + transaction_text(history[node]);
  return text.empty() ? text : "these follow upon each other in a circle:" + text;
}

}  // namespace postino::model

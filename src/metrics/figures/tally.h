// Figures in the making: what changes, or items, add up to.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "metrics/figures/contribution.h"
#include "metrics/figures/figure_items.h"
#include "store/stream.h"
#include "store/transaction.h"

namespace postino::metrics {

struct FigureName {
  std::string tenant;
  std::string name;
  friend auto operator<=>(const FigureName&, const FigureName&) = default;
};
struct HistoryName {
  std::string tenant;
  Unit unit = Unit::minutes;
  base::TimePoint begin;
  friend auto operator<=>(const HistoryName&, const HistoryName&) = default;
};
struct SlotName {
  int slot = 0;
  std::string event;
  friend auto operator<=>(const SlotName&, const SlotName&) = default;
};

// What amounts to nothing is not in it.
class Tally {
 public:
  using Figures = std::map<FigureName, Amount>;
  using Slots = std::map<SlotName, Amount>;
  using History = std::map<HistoryName, Slots>;

  // Of an item that is there now, or was there before. `now` decides what still belongs into the history.
  void add(const Contribution& contribution, base::TimePoint now);
  // `keeps_history`: what happened remains true, although its record has expired.
  void subtract(const Contribution& contribution, base::TimePoint now, bool keeps_history);
  void add(const Tally& other);
  void subtract(const Tally& other);

  const Figures& figures() const { return figures_; }
  const History& history() const { return history_; }
  // How many items it changes.
  std::size_t items() const { return figures_.size() + history_.size(); }
  std::size_t slots() const { return slots_; }  // of the history
  bool empty() const { return items() == 0; }

 private:
  void add(const Contribution& contribution, bool is_negative, base::TimePoint now, bool with_history);
  void add_figure(const FigureName& name, const Amount& amount);
  void add_slot(const HistoryName& history, const SlotName& slot, const Amount& amount);
  void add_all(const Tally& other, bool is_negative);

  Figures figures_;
  History history_;
  std::size_t slots_ = 0;
};

// Adds what a change changes. Images that are not as they must be count as nothing; the first such fault is answered.
// A fault also, when the stream has no images.
base::Result<void> tally_change(const Source& source, const store::StreamRecord& record, base::TimePoint now,
                                Tally& tally);

// The updates of a commit, one for each item. A figure that would fall below zero fails its condition.
std::vector<store::TransactAction> tally_updates(const std::string& table, const std::string& source,
                                                 const Tally& tally);

// Whole items, for figures that are counted again.
std::vector<item::Item> tally_items(const std::string& source, const Tally& tally);
item::Item figure_item(const std::string& source, const FigureName& name, const Amount& amount);

}  // namespace postino::metrics

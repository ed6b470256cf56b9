// What one item of a table adds to the figures. Every figure is the sum over the items that there are: a change adds
// what the item says now and takes away what it said before, and counting all items again gives the same.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "metrics/figures/amount.h"

namespace postino::metrics {

// Something that happened at a moment, for the history.
struct Event {
  std::string name;  // "tickets_created"
  base::TimePoint at;
  Amount amount{.count = 1};
};

struct Contribution {
  std::string tenant;  // empty: the company itself
  std::vector<std::pair<std::string, Amount>> figures;
  std::vector<Event> events;
};

// A table whose items are counted.
struct Source {
  std::string name;   // "tickets": in the names of its checkpoint and its history
  std::string table;  // its stream must have new and old images
  // May an item with this key be counted at all? The others are not looked at.
  std::function<bool(const item::Key&)> concerns;
  // Pure. invalid when the item is not as it must be, with the rule; it then counts as nothing.
  std::function<base::Result<Contribution>(const item::Item&)> count;
  // How long items stay at least. Figures of the history that are older are never counted again, because what they
  // counted may be gone. nullopt: items stay until a program deletes them.
  std::optional<base::Milliseconds> kept_for;
  // Its figures: so that each has an item from the beginning, and that one read finds them.
  std::vector<std::string> known_figures;
};

// What an item of the source contributes, with a tenant that can be one: its name is part of the names of figures.
base::Result<Contribution> contribution_of(const Source& source, const item::Item& item);

// Of a partition key: "TENANT#acme#TICKET#tkt_1" is {"acme", "TICKET#tkt_1"}.
struct OwnedKey {
  std::string tenant;
  std::string rest;
};
OwnedKey owner_of(std::string_view partition_key);

// A moment as programs write it: RFC 3339, or Python's isoformat() without zone, which is UTC.
std::optional<base::TimePoint> parse_moment(std::string_view text);

// The moment in a text attribute, or in milliseconds since 1970 in a number.
std::optional<base::TimePoint> moment_in(const item::Item& item, std::string_view name);

}  // namespace postino::metrics

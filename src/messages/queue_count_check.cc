#include "messages/queue_count_check.h"

#include "item/attribute_text.h"
#include "store/count_mender.h"

namespace postino::messages {

void QueueCountCheck::add(const std::string& table, const item::Item& item) {
  if (table != table_) return;
  const std::string name = item::attribute_text(item, "Shelf");
  const std::string of_counts = counts_name("");
  if (const auto place = place_of_shelf(name))
    ++queues_[place->queue].there[static_cast<std::size_t>(place->shelf)];
  else if (name.starts_with(of_counts))
    add_slice(name.substr(of_counts.size()), item);
}

void QueueCountCheck::add_slice(const std::string& queue, const item::Item& slice) {
  Queue& counts = queues_[queue];
  for (std::size_t shelf = 0; shelf < shelf_count; ++shelf) {
    store::add_count(counts.counted[shelf], slice, count_names[shelf]);
    const item::AttributeValue* const value = slice.find(count_names[shelf]);
    if (value != nullptr && !store::whole_count(*value)) counts.is_spoilt[shelf] = true;
  }
}

std::vector<std::string> QueueCountCheck::differences() const {
  std::vector<std::string> lines;
  for (const auto& [name, queue] : queues_)
    for (std::size_t shelf = 0; shelf < shelf_count; ++shelf) {
      const std::string what = "counts of queue " + name + ": ";
      const std::string count(count_names[shelf]);
      if (queue.is_spoilt[shelf])
        lines.push_back(what + count + " is no whole number");
      else if (queue.counted[shelf] != queue.there[shelf])
        lines.push_back(
            what + count + " is " + std::to_string(queue.counted[shelf]) + ", and there " +
            (queue.there[shelf] == 1 ? "is 1 message" : "are " + std::to_string(queue.there[shelf]) + " messages"));
    }
  return lines;
}

}  // namespace postino::messages

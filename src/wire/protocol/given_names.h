// What the caller of a batch calls its tables, by name or by ARN: the answer calls them the same.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace postino::wire {

// A table's name and what it was called, in the order of the request. nullptr: all were called by their names.
using GivenNames = std::shared_ptr<const std::vector<std::pair<std::string, std::string>>>;

// Collects them while a request is decoded.
class GivenNamesBuilder {
 public:
  void add(const std::string& table, const std::string& given) { names_.emplace_back(table, given); }
  GivenNames take() &&;

 private:
  std::vector<std::pair<std::string, std::string>> names_;
};

// For a part of an answer, which has some of the tables, in the order of the request. A table may be in a request under
// both its names.
class NamesInOrder {
 public:
  explicit NamesInOrder(const GivenNames& names) : names_(names.get()) {}

  // The next one's; `table` must outlive the result.
  const std::string& next(const std::string& table);

 private:
  const std::vector<std::pair<std::string, std::string>>* names_;
  std::size_t position_ = 0;
};

}  // namespace postino::wire

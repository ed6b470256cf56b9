// Reads objects of our own APIs field by field, and notes everything that is wrong with them: which field, and the rule
// it breaks.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "json/document.h"
#include "json/field_errors.h"

namespace postino::json {

// One object. Each function reads a member once; what is missing and not required is nullopt without a note, null
// counts as missing. So does an empty text that is not required: many programs write what they do not have like this.
class Fields {
 public:
  // Notes the rule when the element is no object; every member is missing then.
  Fields(Element element, std::string path, FieldErrors& errors);

  enum class Need { required, optional };

  std::optional<std::string_view> text(std::string_view name, Need need, std::size_t max_bytes = 1 << 20);
  std::optional<std::int64_t> integer(std::string_view name, Need need, std::int64_t least, std::int64_t most);
  std::optional<bool> boolean(std::string_view name, Need need);
  std::optional<base::TimePoint> time(std::string_view name, Need need);  // RFC 3339
  // Elements of an array; a note when there are more than `most`.
  std::optional<std::vector<Element>> list(std::string_view name, Need need, std::size_t most);
  std::optional<Element> any(std::string_view name, Need need);
  // Members of an object of any names, in their order.
  std::optional<std::vector<Members::Member>> map(std::string_view name, Need need, std::size_t most);

  // Notes every member that was not asked for, and every name that occurs twice: neither a misspelt name nor one of two
  // values must pass in silence.
  void refuse_others();

  std::string path_of(std::string_view name) const;
  void refuse(std::string_view name, std::string rule) { errors_.add(path_of(name), std::move(rule)); }
  FieldErrors& errors() { return errors_; }

 private:
  std::optional<Element> take(std::string_view name, Need need);

  std::optional<Element> object_;
  const std::string path_;
  FieldErrors& errors_;
  std::set<std::string, std::less<>> asked_;
};

// "data[3]"
std::string element_path(std::string_view list, std::size_t index);

}  // namespace postino::json

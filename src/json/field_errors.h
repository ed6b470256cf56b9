// What is wrong with a JSON text that a caller has sent: which fields, and the rules they break.
#pragma once

#include <string>
#include <vector>

namespace postino::json {

struct FieldError {
  std::string field;  // "data[2].subject"; empty for the whole
  std::string rule;   // "must be a string"

  friend bool operator==(const FieldError&, const FieldError&) = default;
};

// Notes are kept up to a limit; what is beyond it changes nothing for the caller but the length of the answer.
class FieldErrors {
 public:
  void add(std::string field, std::string rule);
  bool empty() const { return errors_.empty(); }
  const std::vector<FieldError>& list() const { return errors_; }

 private:
  static constexpr std::size_t most = 50;
  std::vector<FieldError> errors_;
};

}  // namespace postino::json

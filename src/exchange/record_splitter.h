// Cuts a stream of text into records, without having all of it in memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace postino::exchange {

enum class DataFormat { dynamodb_json, ion, csv };

inline constexpr std::size_t longest_record = 4 << 20;  // bytes: an item of 400 KB takes less in any form

// Used by one thread.
class RecordSplitter {
 public:
  virtual ~RecordSplitter() = default;
  // More of the text.
  void add(std::string_view text) { text_.append(text); }
  // There is no more of it.
  void finish() { is_finished_ = true; }
  // The next record; nullopt: more text is needed, or there is none any more. Blank ones are passed over. Fails when
  // one is longer than it may be: then nothing behind it can be found.
  virtual base::Result<std::optional<std::string>> next() = 0;

 protected:
  // Takes the record that ends before `end`, and what is up to `behind`.
  std::string take(std::size_t end, std::size_t behind);
  base::Result<void> check_length() const;

  std::string text_;  // from begin_ on it has not been taken yet
  std::size_t begin_ = 0;
  std::size_t place_ = 0;  // up to here it was looked at
  bool is_finished_ = false;
};

// JSON: lines. CSV: lines that do not end within quotes. Ion: top-level structures.
std::unique_ptr<RecordSplitter> splitter_of(DataFormat format);

}  // namespace postino::exchange

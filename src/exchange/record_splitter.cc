#include "exchange/record_splitter.h"

#include <algorithm>

#include "base/text.h"

namespace postino::exchange {

namespace {

constexpr std::size_t kept_in_front = 1 << 20;

class LineSplitter final : public RecordSplitter {
 public:
  explicit LineSplitter(bool has_quotes) : has_quotes_(has_quotes) {}

  base::Result<std::optional<std::string>> next() override {
    while (true) {
      for (; place_ < text_.size() && (is_quoted_ || text_[place_] != '\n'); ++place_)
        if (has_quotes_ && text_[place_] == '"') is_quoted_ = !is_quoted_;
      TRY_VOID(check_length());
      if (place_ == text_.size() && (!is_finished_ || begin_ == place_)) return std::optional<std::string>();
      const std::size_t end = place_;
      std::string line = take(end, std::min(end + 1, text_.size()));
      is_quoted_ = false;
      if (line.ends_with('\r')) line.pop_back();
      if (!base::trim(line).empty()) return std::optional(std::move(line));
    }
  }

 private:
  const bool has_quotes_;
  bool is_quoted_ = false;
};

// A structure ends where its brackets do, but for those in texts and comments.
class StructureSplitter final : public RecordSplitter {
 public:
  base::Result<std::optional<std::string>> next() override {
    while (place_ < text_.size()) {
      // Marks of several letters must not be cut in two.
      if (!is_finished_ && place_ + 3 > text_.size()) break;
      step();
      TRY_VOID(check_length());
      if (depth_ > 0 || !has_structure_) continue;
      has_structure_ = false;
      return std::optional(take(place_, place_));
    }
    TRY_VOID(check_length());
    if (!is_finished_ || place_ < text_.size()) return std::optional<std::string>();
    std::string rest = take(place_, place_);
    // What is left is no structure, but it may be blank.
    if (base::trim(rest).empty()) return std::optional<std::string>();
    return std::optional(std::move(rest));
  }

 private:
  bool is_next(std::string_view word) const { return std::string_view(text_).substr(place_).starts_with(word); }

  void step() {
    if (!end_of_text_.empty()) {
      if (end_of_text_ != "*/" && end_of_text_ != "\n" && text_[place_] == '\\') {
        place_ = std::min(place_ + 2, text_.size());
      } else if (is_next(end_of_text_)) {
        place_ += end_of_text_.size();
        end_of_text_ = "";
      } else {
        ++place_;
      }
      return;
    }
    for (const auto& [begin, end] : texts)
      if (is_next(begin)) {
        place_ += begin.size();
        end_of_text_ = end;
        return;
      }
    const char letter = text_[place_++];
    if (letter == '{' || letter == '[') ++depth_;
    if (letter == '{') has_structure_ = true;
    if (letter == '}' || letter == ']') depth_ = std::max(depth_ - 1, 0);
  }

  struct Text {
    std::string_view begin;
    std::string_view end;
  };
  static constexpr Text texts[] = {{"\'\'\'", "\'\'\'"}, {"\"", "\""}, {"\'", "\'"}, {"/*", "*/"}, {"//", "\n"}};

  int depth_ = 0;
  bool has_structure_ = false;
  std::string_view end_of_text_;  // of a text or comment that has begun
};

}  // namespace

std::string RecordSplitter::take(std::size_t end, std::size_t behind) {
  std::string record = text_.substr(begin_, end - begin_);
  begin_ = place_ = behind;
  if (begin_ >= kept_in_front || begin_ == text_.size()) {
    text_.erase(0, begin_);
    begin_ = place_ = 0;
  }
  return record;
}

base::Result<void> RecordSplitter::check_length() const {
  if (place_ - begin_ <= longest_record) return {};
  return base::invalid("a record must have at most " + std::to_string(longest_record) + " bytes");
}

std::unique_ptr<RecordSplitter> splitter_of(DataFormat format) {
  if (format == DataFormat::ion) return std::make_unique<StructureSplitter>();
  return std::make_unique<LineSplitter>(format == DataFormat::csv);
}

}  // namespace postino::exchange

#include "mail/html_images.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/text.h"
#include "mail/content_type.h"
#include "mail/encoding/data_url.h"

namespace postino::mail {

namespace {

using base::Result;

constexpr std::string_view html_spaces = " \t\r\n\f";

bool is_blank(char letter) { return html_spaces.find(letter) != std::string_view::npos; }

// Walks over the attributes of a tag, as the HTML standard's tokenizer does.
class AttributeReader {
 public:
  explicit AttributeReader(std::string_view rest) : rest_(rest) {}

  struct Attribute {
    std::string_view name;
    std::string_view value;
  };
  // None at the end of the tag.
  std::optional<Attribute> next() {
    skip([](char letter) { return is_blank(letter) || letter == '/'; });
    if (rest_.empty() || rest_.front() == '>') return std::nullopt;
    Attribute attribute;
    attribute.name =
        take([](char letter) { return !is_blank(letter) && letter != '/' && letter != '>' && letter != '='; });
    if (attribute.name.empty()) rest_.remove_prefix(1);  // a stray =
    skip(is_blank);
    if (!rest_.starts_with('=') || attribute.name.empty()) return attribute;
    rest_.remove_prefix(1);
    skip(is_blank);
    attribute.value = take_value();
    return attribute;
  }
  std::string_view rest() const { return rest_; }

 private:
  template <class Predicate>
  std::string_view take(Predicate predicate) {
    const auto end = std::ranges::find_if_not(rest_, predicate);
    const auto count = static_cast<std::size_t>(end - rest_.begin());
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <class Predicate>
  void skip(Predicate predicate) {
    take(predicate);
  }
  std::string_view take_value() {
    if (!rest_.starts_with('"') && !rest_.starts_with('\''))
      return take([](char letter) { return !is_blank(letter) && letter != '>'; });
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    const std::string_view value = take([quote](char letter) { return letter != quote; });
    if (!rest_.empty()) rest_.remove_prefix(1);
    return value;
  }

  std::string_view rest_;
};

bool begins_image(std::string_view text) {
  return text.size() > 4 && base::equal_ignoring_case(text.substr(0, 4), "<img") &&
         (is_blank(text[4]) || text[4] == '/');
}

class Extraction {
 public:
  Extraction(std::string_view html, const std::function<std::string(std::size_t)>& content_id)
      : html_(html), content_id_(content_id) {}

  Result<HtmlWithImages> run() && {
    for (std::size_t at = html_.find('<'); at != std::string_view::npos; at = html_.find('<', at + 1)) {
      if (!begins_image(html_.substr(at))) continue;
      AttributeReader attributes(html_.substr(at + 4));
      while (const auto attribute = attributes.next())
        if (base::equal_ignoring_case(attribute->name, "src")) TRY_VOID(replace(attribute->value));
      at = html_.size() - attributes.rest().size() - 1;
    }
    result_.html.append(html_.substr(copied_));
    return std::move(result_);
  }

 private:
  Result<void> replace(std::string_view value) {
    const std::string_view url = base::trim(value);
    if (!is_image_data_url(url)) return {};
    TRY(const std::size_t number, number_of(url));
    const auto begin = static_cast<std::size_t>(value.data() - html_.data());
    result_.html.append(html_.substr(copied_, begin - copied_));
    result_.html.append("cid:").append(result_.images[number].content_id);
    copied_ = begin + value.size();
    return {};
  }
  Result<std::size_t> number_of(std::string_view url) {
    if (const auto known = numbers_.find(url); known != numbers_.end()) return known->second;
    TRY(auto image, parse_data_url(url));
    TRY(auto type, parse_content_type(image.content_type));
    const std::size_t number = result_.images.size();
    result_.images.push_back({std::move(type.name), content_id_(number), std::move(image.bytes)});
    numbers_.emplace(url, number);
    return number;
  }

  std::string_view html_;
  const std::function<std::string(std::size_t)>& content_id_;
  std::size_t copied_ = 0;  // so many bytes are in the result already
  HtmlWithImages result_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
};

}  // namespace

Result<HtmlWithImages> extract_images(std::string_view html,
                                      const std::function<std::string(std::size_t)>& content_id) {
  return Extraction(html, content_id).run();
}

}  // namespace postino::mail

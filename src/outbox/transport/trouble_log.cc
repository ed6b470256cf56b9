#include "outbox/transport/trouble_log.h"

#include <algorithm>
#include <array>

#include "base/log.h"

namespace postino::outbox {

std::string without_addresses(std::string_view text) {
  constexpr std::string_view separators = " \t<>()[],;:\"'";
  // Also as wide characters, and as servers write it into their own addresses.
  constexpr std::array<std::string_view, 4> signs = {"@", "\uFF20", "\uFE6B", "=40"};
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    const std::string_view word = text.substr(0, end);
    const bool is_address = std::ranges::any_of(signs, [&](auto sign) { return word.find(sign) != word.npos; });
    // What is quoted before the sign belongs to it: "ada lovelace"@example.org.
    if (is_address && word.front() == '@' && out.ends_with('"'))
      out.resize(std::min(out.rfind('"', out.size() - 2), out.size() - 1));
    out += is_address ? "(address)" : word;
    out += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void PartnerHealth::works() {
  if (!is_down_) return;
  const std::lock_guard lock(mutex_);
  is_down_ = false;
  if (std::exchange(is_told_, false)) base::log_info("outbox", what_ + " can be used again", {{"name", name_}});
}

void PartnerHealth::fails(const std::string& why, Instant now) {
  const std::lock_guard lock(mutex_);
  is_down_ = true;
  why_ = without_addresses(why);
  if (is_told_ || (told_at_ && now - *told_at_ < pause)) return;
  is_told_ = true;
  told_at_ = now;
  base::log_error("outbox", what_ + " cannot be used", {{"name", name_}, {"error", why_}});
}

std::optional<std::string> PartnerHealth::problem() const {
  if (!is_down_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return what_ + " " + name_ + " could not be used at the last attempt: " + why_;
}

std::optional<std::uint64_t> RepeatedTrouble::admit(const std::string& kind) {
  const base::Milliseconds now = clock_.monotonic();
  const std::lock_guard lock(mutex_);
  const bool is_known = kinds_.contains(kind) || kinds_.size() < most_kinds;
  const auto [found, is_new] = kinds_.try_emplace(is_known ? kind : "others", Kind{now});
  Kind& known = found->second;
  if (!is_new && now - known.told_at < pause) {
    ++known.untold;
    return std::nullopt;
  }
  known.told_at = now;
  return std::exchange(known.untold, 0);
}

}  // namespace postino::outbox

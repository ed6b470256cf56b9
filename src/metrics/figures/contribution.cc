#include "metrics/figures/contribution.h"

#include "base/timestamp.h"
#include "metrics/figures/figure_items.h"

namespace postino::metrics {

base::Result<Contribution> contribution_of(const Source& source, const item::Item& item) {
  constexpr std::size_t longest_tenant = 255;
  TRY(Contribution contribution, source.count(item));
  const std::string& tenant = contribution.tenant;
  if (tenant.size() > longest_tenant || tenant.find('#') != std::string::npos || tenant == all_tenants)
    return base::invalid("the name of a tenant must have up to 255 bytes, no #, and not be *");
  return contribution;
}

OwnedKey owner_of(std::string_view partition_key) {
  constexpr std::string_view begin = "TENANT#";
  if (!partition_key.starts_with(begin)) return {"", std::string(partition_key)};
  const std::string_view owned = partition_key.substr(begin.size());
  const std::size_t end = owned.find('#');
  if (end == std::string_view::npos || end == 0) return {"", std::string(partition_key)};
  return {std::string(owned.substr(0, end)), std::string(owned.substr(end + 1))};
}

std::optional<base::TimePoint> parse_moment(std::string_view text) {
  const std::string given(text);
  for (const std::string& form : {given, given + "Z"})
    if (const auto time = base::parse_timestamp(form)) return *time;
  return std::nullopt;
}

std::optional<base::TimePoint> moment_in(const item::Item& item, std::string_view name) {
  const item::AttributeValue* const value = item.find(name);
  if (value == nullptr) return std::nullopt;
  if (const auto* const text = value->get_if<std::string>()) return parse_moment(*text);
  const auto* const number = value->get_if<item::Number>();
  // Beyond the year 9999 there is no text of it.
  constexpr std::int64_t last = 253'402'300'799'999;
  const auto milliseconds = number != nullptr ? number->to_int64() : std::nullopt;
  if (!milliseconds || *milliseconds < 0 || *milliseconds > last) return std::nullopt;
  return base::from_epoch_milliseconds(*milliseconds);
}

}  // namespace postino::metrics

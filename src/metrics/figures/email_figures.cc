#include "metrics/figures/email_figures.h"

#include <array>

#include "item/attribute_text.h"
#include "outbox/outbox.h"

namespace postino::metrics {

namespace {

constexpr std::string_view email_record = "_META";

base::Result<Contribution> count_email(const item::Item& item) {
  const item::AttributeValue* const attributes = item.find("Attributes");
  const auto* const map = attributes != nullptr ? attributes->get_if<item::Map>() : nullptr;
  const std::string state = map != nullptr ? item::attribute_text(*map, "Latest") : "";
  if (!outbox::parse_state(state)) return base::invalid("Attributes.Latest of an e-mail must be a state");
  Contribution counted;
  counted.tenant = item::attribute_text(item, "Tenant");
  counted.figures.emplace_back("emails_by_state#" + state, Amount{.count = 1});
  if (const auto at = moment_in(item, "CreatedAt")) counted.events.push_back({.name = "emails_accepted", .at = *at});
  const auto settled = moment_in(item, "SettledAt");
  // "CALLING-SENT-CALLBACK" and "SENT-ACKNOWLEDGED" are what SENT becomes.
  for (const std::string_view outcome : {"SENT", "FAILED", "INVALID"})
    if (settled && state.find(outcome) != std::string::npos)
      counted.events.push_back({.name = "emails_settled#" + std::string(outcome), .at = *settled});
  return counted;
}

}  // namespace

Source email_source(std::string table, base::Milliseconds kept_for) {
  Source source{.name = "emails",
                .table = std::move(table),
                .concerns = [](const item::Key& key) { return item::attribute_text(key, "Status") == email_record; },
                .count = count_email,
                .kept_for = kept_for,
                .known_figures = {}};
  for (const outbox::State state : outbox::all_states())
    source.known_figures.push_back("emails_by_state#" + std::string(outbox::name_of(state)));
  return source;
}

}  // namespace postino::metrics

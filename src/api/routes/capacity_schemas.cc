// The shapes of what is said about capacity: workloads, estimates, prices.
#include "api/protocol/schemas.h"
#include "api/routes/schema_parts.h"
#include "capacity/former_calculator.h"
#include "capacity/workload.h"

namespace postino::api {

namespace {

using capacity::FormerLimits;
using capacity::PriceLimits;
using capacity::WorkloadLimits;
using enum Presence;

constexpr std::string_view rate_pattern = R"(^[0-9]{1,12}(\.[0-9]{1,3})?$)";
constexpr std::string_view price_pattern = R"(^[0-9]{1,12}(\.[0-9]{1,8})?$)";

// An integer, or a decimal in quotes.
Schema exact(std::string description, std::int64_t most, std::string default_value = "0") {
  return {.description = std::move(description),
          .default_value = std::move(default_value),
          .alternatives = {{.type = "integer", .least = 0, .most = most}, {.type = "string", .pattern = rate_pattern}}};
}

Schema rate(std::string description) { return exact(std::move(description), WorkloadLimits::rate); }

Schema whole(std::string description, std::int64_t least, std::int64_t most, std::string default_value = "") {
  return {.type = "integer",
          .description = std::move(description),
          .least = least,
          .most = most,
          .default_value = std::move(default_value)};
}

Schema price(std::string description) {
  return {.type = "string", .description = std::move(description), .pattern = price_pattern, .example = R"("0.625")"};
}

Schema money_text(std::string description = "") {
  return {.type = "string", .description = std::move(description), .example = R"("13.57")"};
}

Schema number_text(std::string description = "") {
  return {.type = "string", .description = std::move(description), .example = R"("142.5")"};
}

Schema binary_fraction(std::string description = "") {
  return {.type = "number", .description = std::move(description)};
}

Schema percent(std::string description, std::int64_t usual, std::int64_t least = 0) {
  return whole(std::move(description), least, WorkloadLimits::percent, std::to_string(usual));
}

Schema index_workload() {
  const capacity::IndexWorkload usual{};
  return {
      .type = "object",
      .description = "A global secondary index.",
      .properties =
          {{"name",
            {.type = "string",
             .description = "Its name; no two have the same.",
             .pattern = without_control_characters,
             .most = limit_of(WorkloadLimits::name_bytes)}},
           {"projection",
            {.type = "string",
             .description = "Which attributes its entries have.",
             .choices = {"KEYS_ONLY", "INCLUDE", "ALL"}},
            required},
           {"entry_bytes",
            whole("Average size of an entry; required unless it has all attributes.", 1, WorkloadLimits::item_bytes)},
           {"items_percent", percent("How many of the items are in it: those that have its key.", usual.items_percent)},
           {"changes_percent", percent("How many of the writes change something in it.", usual.changes_percent)},
           {"key_changes_percent", percent("How many of the writes change its key, which costs two writes; among "
                                           "changes_percent.",
                                           usual.key_changes_percent)},
           {"queries", rate("Queries of the index a second.")},
           {"entries_per_query", whole("Entries that each of them reads.", 1, WorkloadLimits::items_per_query, "1")}},
      .closed = true};
}

Schema workload() {
  const capacity::Workload usual{};
  return {
      .type = "object",
      .description = "What a table is asked to do. Requests are per second, on average over the hours with requests.",
      .example = R"({"item_bytes":3072,"strong_reads":100,"writes":20,"storage_gb":50,"hours_per_day":12})",
      .properties =
          {{"item_bytes", whole("Average size of an item in bytes.", 1, WorkloadLimits::item_bytes), required},
           {"strong_reads", rate("Consistent reads of an item a second.")},
           {"eventual_reads", rate("Other reads of an item a second.")},
           {"transactional_reads", rate("Reads of an item in a transaction a second.")},
           {"queries", rate("Queries, or pages of scans, of the table a second.")},
           {"items_per_query", whole("Items that each of them examines.", 1, WorkloadLimits::items_per_query, "1")},
           {"consistent_queries", flag("The queries are consistent.")},
           {"writes", rate("Puts and updates a second.")},
           {"transactional_writes", rate("Writes in a transaction a second.")},
           {"deletes", rate("Deletes a second.")},
           {"failed_writes", rate("Writes a second whose condition does not hold.")},
           {"expiries", rate("Items a second that expire by their time to live.")},
           {"stream_reads", rate("Requests a second for records of the change stream.")},
           {"items", whole("Items in the table; or storage_gb.", 0, WorkloadLimits::items)},
           {"storage_gb", exact("Storage in gigabytes, indexes included; or items.", WorkloadLimits::storage_gb)},
           {"table_class",
            {.type = "string",
             .description = "The class of the table.",
             .choices = {"standard", "infrequent_access"},
             .default_value = R"("standard")"}},
           {"hours_per_day", whole("Hours a day in which there are requests.", 1, WorkloadLimits::hours_per_day,
                                   std::to_string(usual.hours_per_day))},
           {"utilisation_percent",
            percent("How much of provisioned capacity is to be used.", usual.utilisation_percent, 1)},
           {"free_tier", flag("Subtract what an account gets for free each month.")},
           {"indexes",
            {.type = "array",
             .description = "Global secondary indexes.",
             .most = limit_of(WorkloadLimits::indexes),
             .elements = {like("CapacityIndex")}}}},
      .closed = true};
}

Schema price_source() {
  return {.type = "object",
          .properties = {{"name", text(), required},
                         {"region", text(), required},
                         {"currency", text("Three letters of ISO 4217."), required},
                         {"valid_from", {.type = "string", .format = "date"}, required}}};
}

Schema costs() {
  return {.type = "object",
          .description = "Of a month.",
          .properties = {{"reads", money_text(), required},
                         {"writes", money_text(), required},
                         {"stream_reads", money_text(), required},
                         {"storage", money_text(), required},
                         {"total", money_text(), required}}};
}

Schema mode() {
  return {.type = "string", .description = "Which is cheaper.", .choices = {"on_demand", "provisioned"}};
}

Schema estimate() {
  const Schema line{.type = "object",
                    .properties = {{"what", text(), required},
                                   {"index", text("Empty for the table itself."), required},
                                   {"unit", {.type = "string", .choices = {"read", "write", "stream_read"}}, required},
                                   {"per_second", number_text(), required},
                                   {"units_each", number_text(), required},
                                   {"units_per_second", number_text(), required}}};
  const Schema capacity{.type = "object",
                        .properties = {{"index", text("Empty for the table itself."), required},
                                       {"read_units", count(), required},
                                       {"write_units", count(), required}}};
  Schema share = number_text(
      "With the capacity below, on demand is cheaper for less than this part of the requests; null: the capacity "
      "serves no such part.");
  Schema hours = number_text("The same for hours a day; null: a day has not so many.");
  share.nullable = hours.nullable = true;
  const Schema break_even{
      .type = "object",
      .properties = {{"load_percent", share, required},
                     {"hours_per_day", hours, required},
                     {"read_utilisation_percent",
                      number_text("Provisioned reads are cheaper when more of them are used."), required},
                     {"write_utilisation_percent",
                      number_text("Provisioned writes are cheaper when more of them are used."), required}}};
  return {.type = "object",
          .properties = {{"prices", like("CapacityPriceSource"), required},
                         {"requests", list_of(line, "Each kind of request, with its units."), required},
                         {"read_units_per_second", number_text(), required},
                         {"write_units_per_second", number_text(), required},
                         {"read_units_per_month", number_text(), required},
                         {"write_units_per_month", number_text(), required},
                         {"storage_gb", number_text(), required},
                         {"capacity", list_of(capacity, "What must be provisioned."), required},
                         {"provisioned", like("CapacityCosts"), required},
                         {"on_demand", like("CapacityCosts"), required},
                         {"recommendation", like("CapacityMode"), required},
                         {"saving", money_text("What the cheaper one saves a month."), required},
                         {"saving_percent", number_text(), required},
                         {"break_even", break_even, required},
                         {"notes", list_of(text()), required}}};
}

Schema former_load() {
  const auto sized = [](std::string description) -> Schema {
    return {.description = std::move(description),
            .alternatives = {binary_fraction(), {.type = "string", .pattern = R"(^[0-9]+(\.[0-9]+)?$)"}}};
  };
  return {.type = "object",
          .example = R"({"reads_per_second":100,"writes_per_second":20,"item_size_kb":3,"storage_gb":50,)"
                     R"("hours_active_per_day":12})",
          .properties = {{"reads_per_second", whole("Reads a second.", 0, FormerLimits::rate), required},
                         {"writes_per_second", whole("Writes a second.", 0, FormerLimits::rate), required},
                         {"item_size_kb", sized("Average size of an item in kilobytes."), required},
                         {"storage_gb", sized("Storage in gigabytes."), required},
                         {"hours_active_per_day",
                          whole("Hours a day in which there are requests.", 0, FormerLimits::hours_per_day,
                                std::to_string(capacity::FormerLoad().hours_active_per_day))}},
          .closed = true};
}

Schema former_costs(std::string_view reads, std::string_view writes) {
  return {.type = "object",
          .properties = {{reads, binary_fraction(), required},
                         {writes, binary_fraction(), required},
                         {"storage_cost", binary_fraction(), required},
                         {"total", binary_fraction(), required}}};
}

Schema former_analysis() {
  return {.type = "object",
          .properties = {{"read_units", count("Of consistent reads."), required},
                         {"eventual_read_units", count(), required},
                         {"write_units", count(), required},
                         {"provisioned", former_costs("rcu_cost", "wcu_cost"), required},
                         {"on_demand", former_costs("read_cost", "write_cost"), required},
                         {"recommendation", {.type = "string", .choices = {"provisioned", "on-demand"}}, required},
                         {"savings", binary_fraction("Not rounded."), required},
                         {"notes", list_of(text()), required}}};
}

Schema class_prices() {
  return {.type = "object",
          .properties = {{"on_demand_read_million", price("A million read request units."), required},
                         {"on_demand_write_million", price("A million write request units."), required},
                         {"provisioned_read_hour", price("A read unit for an hour."), required},
                         {"provisioned_write_hour", price("A write unit for an hour."), required},
                         {"storage_gb_month", price("A gigabyte for a month."), required}}};
}

Schema prices() {
  const Schema free{.type = "object",
                    .description = "What an account gets for free each month.",
                    .properties = {{"storage_gb", count(), required},
                                   {"provisioned_read_units", count(), required},
                                   {"provisioned_write_units", count(), required},
                                   {"stream_reads", count(), required}}};
  return {.type = "object",
          .parts = {
              like("CapacityPriceSource"),
              {.type = "object",
               .properties = {{"hours_per_month",
                               whole("Hours of a month.", PriceLimits::least_hours, PriceLimits::most_hours), required},
                              {"standard", like("CapacityClassPrices"), required},
                              {"infrequent_access", like("CapacityClassPrices"), required},
                              {"stream_reads_100000", price("100,000 requests for stream records."), required},
                              {"free", free, required}}}}};
}

}  // namespace

std::vector<NamedSchema> capacity_schemas() {
  return {{"CapacityIndex", index_workload()},
          {"CapacityWorkload", workload()},
          {"CapacityPriceSource", price_source()},
          {"CapacityCosts", costs()},
          {"CapacityMode", mode()},
          {"CapacityEstimate", estimate()},
          {"FormerCapacityLoad", former_load()},
          {"FormerCapacityAnalysis", former_analysis()},
          {"CapacityClassPrices", class_prices()},
          {"CapacityPrices", prices()}};
}

}  // namespace postino::api

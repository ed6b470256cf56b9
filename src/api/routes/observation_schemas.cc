// The shapes of what is said about the traffic of this store.
#include "api/protocol/schemas.h"
#include "api/routes/schema_parts.h"

namespace postino::api {

namespace {

using enum Presence;

Schema decimal_text(std::string description = "") {
  return {.type = "string", .description = std::move(description), .example = R"("142.5")"};
}

Schema observed_part() {
  return {
      .type = "object",
      .properties = {
          {"index", text("Empty for the table itself."), required},
          {"reads", count("Items, and pages of queries and scans."), required},
          {"writes", count(), required},
          {"failed_writes", count("Among them, those whose condition did not hold."), required},
          {"read_units", decimal_text(), required},
          {"scan_units", decimal_text("Of these, of scans."), required},
          {"write_units", decimal_text(), required},
          {"backfill_units", decimal_text("Of writes that filled it as a new index: once, so in no month."), required},
          {"read_units_per_month", decimal_text("If it goes on like this."), required},
          {"write_units_per_month", decimal_text("If it goes on like this."), required},
          {"provisioned_read_units",
           count("For the busiest minute of the watch; of a local index they are the table's."), required},
          {"provisioned_write_units", count("The same for writes."), required},
          {"items", count(), required},
          {"stored_bytes", count("Bytes that are paid for."), required}}};
}

Schema observed_table() {
  return {.type = "object",
          .properties = {{"table", text(), required},
                         {"table_class", {.type = "string", .choices = {"standard", "infrequent_access"}}, required},
                         {"parts", list_of(observed_part(), "The table, and its indexes."), required},
                         {"on_demand", like("CapacityCosts"), required},
                         {"provisioned", like("CapacityCosts"), required},
                         {"recommendation", like("CapacityMode"), required},
                         {"saving", decimal_text("What the cheaper one saves a month."), required}}};
}

Schema observed_service() {
  return {.type = "object",
          .properties = {{"service", text("Of this program; `other` of tables of others."), required},
                         {"operation", text("Of DynamoDB, as PutItem."), required},
                         {"read_units", decimal_text(), required},
                         {"write_units", decimal_text(), required},
                         {"cost", decimal_text("Of a month, on demand, if it goes on like this."), required}}};
}

Schema hot_key() {
  return {.type = "object",
          .properties = {{"table", text(), required},
                         {"index", text("Empty for the table itself."), required},
                         {"unit", {.type = "string", .choices = {"read", "write"}}, required},
                         {"key", text("The partition key as DynamoDB's JSON; of a long key, how it begins."), required},
                         {"key_is_cut", flag("Whether the key was too long to be kept."), required},
                         {"units", decimal_text("About as many units as it took."), required},
                         {"most_excess", decimal_text("It took no fewer than units without these."), required},
                         {"share_percent", decimal_text("Of all units of the table or index, at least."), required},
                         {"most_in_a_second", decimal_text("The most units that it took within a second."), required}}};
}

Schema observation() {
  const Schema large_item{.type = "object",
                          .properties = {{"table", text(), required},
                                         {"key", text("The key as DynamoDB's JSON."), required},
                                         {"bytes", count("When it was last written as a large item."), required}}};
  const Schema unread_index{.type = "object",
                            .properties = {{"table", text(), required},
                                           {"index", text(), required},
                                           {"since", time("Nothing has read it since."), required},
                                           {"write_units_per_month", decimal_text(), required},
                                           {"cost", decimal_text("Of a month, on demand."), required}}};
  const Schema advice{
      .type = "object",
      .properties = {{"about",
                      {.type = "string",
                       .choices = {"hot_partition", "hot_key", "large_item", "unread_index", "scans", "table_class"}},
                      required},
                     {"table", text(), required},
                     {"index", text("Empty for the table itself."), required},
                     {"text", text("What was seen, and what to do about it."), required}}};
  return {.type = "object",
          .properties = {
              {"since", time("When the watch began."), required},
              {"until", time(), required},
              {"seconds", count("How long it has lasted."), required},
              {"prices", like("CapacityPriceSource"), required},
              {"on_demand", like("CapacityCosts", "All tables on demand."), required},
              {"provisioned", like("CapacityCosts", "All tables with provisioned capacity."), required},
              {"recommendation", like("CapacityMode"), required},
              {"saving", decimal_text(), required},
              {"best", decimal_text("What a month costs if each table has what is cheaper for it."), required},
              {"stream_reads", decimal_text("Requests for records of change streams."), required},
              {"other_units",
               decimal_text("Of tables and indexes beyond those that can be watched: in no other figure."), required},
              {"deleted_units", decimal_text("Of tables and indexes that were deleted meanwhile: in no other figure."),
               required},
              {"backfill_cost", decimal_text("What filling new indexes cost on demand, once."), required},
              {"tables", list_of(like("ObservedTable")), required},
              {"services", list_of(observed_service(), "By service and operation; empty where the store is embedded."),
               required},
              {"hot_keys", list_of(like("HotKey"), "The keys with the largest shares of the traffic; at least 1 %."),
               required},
              {"hot_partitions", list_of(like("HotKey"), "Keys beyond what a partition gives."), required},
              {"large_items", list_of(large_item, "Items near the size limit."), required},
              {"unread_indexes", list_of(unread_index, "Indexes that cost something, and that nothing has read."),
               required},
              {"advice", list_of(advice), required},
              {"notes", list_of(text()), required}}};
}

}  // namespace

std::vector<NamedSchema> observation_schemas() {
  return {{"ObservedTable", observed_table()}, {"HotKey", hot_key()}, {"CapacityObservation", observation()}};
}

}  // namespace postino::api

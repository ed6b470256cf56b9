// What a service answers, or something on the way to it.
#include "base/check.h"
#include "item/json_codec.h"
#include "remote/calls/service_clock.h"
#include "remote/calls/verdict.h"
#include "remote/protocol/answers.h"
#include "remote/protocol/checksum.h"
#include "targets.h"

namespace postino::fuzz {

void fuzz_service_answer(std::string_view input) {
  const std::string body(input);
  if (const auto found = remote::decode_get_item(body); found && found->item) {
    const auto again = item::parse_item(item::to_json(*found->item));
    CHECK(again && *again == *found->item);
  }
  (void)remote::decode_write_item(body);
  (void)remote::decode_page(body);
  store::BatchGetTable asked;
  asked.table_name = "t";
  if (const auto batch = remote::decode_batch_get(body, {asked})) CHECK(batch->tables.front().table_name == "t");
  (void)remote::decode_batch_write(body);
  (void)remote::decode_transact_get(body);
  (void)remote::decode_transact_write(body);
  (void)remote::decode_table(body);
  (void)remote::decode_list_tables(body);
  (void)remote::decode_time_to_live_specification(body);
  (void)remote::decode_time_to_live(body);
  (void)remote::decode_recovery(body);
  (void)remote::decode_tags(body);
  (void)remote::decode_list_streams(body);
  (void)remote::decode_stream(body);
  (void)remote::decode_shard_iterator(body);
  (void)remote::decode_records(body);
  if (auto refusal = remote::decode_refusal(400, body)) {
    const auto verdict = remote::judge_refusal(remote::Api::data, 400, *std::move(refusal));
    CHECK(verdict.next != remote::Verdict::Next::done);
  }
  (void)remote::has_right_checksum(input, input);
  const base::ManualClock ours(base::TimePoint{});
  remote::ServiceClock(ours).learn(input);
}

}  // namespace postino::fuzz

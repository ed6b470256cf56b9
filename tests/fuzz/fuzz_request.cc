// A line with the name of an operation, then a request's body: whatever it is, there is one answer, and it is JSON.
#include <atomic>
#include <string>

#include "base/check.h"
#include "store/empty_store_testing.h"
#include "targets.h"
#include "wire/protocol/operation.h"

namespace postino::fuzz {

void fuzz_request(std::string_view input) {
  static store::EmptyStore store;
  static partiql::Executor partiql(store);
  static base::ThreadPool control(1, 100);
  static const std::atomic<std::shared_ptr<const std::string>> address(std::make_shared<const std::string>("here"));
  static const wire::Services services{&store, &partiql, &control, "us-east-1", &address};

  const std::size_t line_end = input.find('\n');
  if (line_end == std::string_view::npos) return;
  const std::string name(input.substr(0, line_end));
  const std::string_view body = input.substr(line_end + 1);
  const wire::Operation* operation = wire::find_operation("DynamoDB_20120810." + name);
  if (operation == nullptr) operation = wire::find_operation("DynamoDBStreams_20120810." + name);
  if (operation == nullptr) return;

  std::atomic<int> answers = 0;
  operation->perform(services, body, [&](const wire::Reply& reply) {
    CHECK(reply.body.empty() || wire::is_json(reply.body));
    CHECK(reply.error.empty() == (reply.status == 200));
    ++answers;
    answers.notify_all();
  });
  // Operations on tables answer from another thread.
  answers.wait(0);
  CHECK(answers == 1);
}

}  // namespace postino::fuzz

#include "statement_runner.h"

#include <future>

#include "item/json_codec.h"

namespace postino::partiql {

namespace {

template <class Response, class Start>
store::Answer<Response> wait(Start start) {
  std::promise<store::Answer<Response>> answered;
  start([&](store::Answer<Response> answer) { answered.set_value(std::move(answer)); });
  return answered.get_future().get();
}

std::string text_of(const BatchStatementResult& result) {
  std::string text = result.item ? item::to_json(*result.item) : "";
  if (result.error) {
    text += result.error->code + ": " + result.error->message;
    if (result.error->item) text += " " + item::to_json(*result.error->item);
  }
  if (!result.table_name.empty()) text += " @" + result.table_name;
  return text;
}

std::string text_of(const store::CancellationReason& reason) {
  std::string text = reason.code;
  if (!reason.message.empty()) text += ": " + reason.message;
  if (reason.item) text += " " + item::to_json(*reason.item);
  return text;
}

template <class Parts, class Text>
std::string joined(const Parts& parts, Text text) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) result.append(i == 0 ? "" : " | ").append(text(parts[i]));
  return result;
}

}  // namespace

Statement statement(std::string text, const std::vector<std::string>& parameters) {
  Statement result;
  result.text = std::move(text);
  for (const std::string& parameter : parameters) {
    auto value = item::parse_value(parameter);
    EXPECT_TRUE(value) << parameter;
    if (value) result.parameters.push_back(*std::move(value));
  }
  result.has_parameters = !parameters.empty();
  return result;
}

store::Answer<ExecuteStatementResponse> StatementTest::execute(const ExecuteStatementRequest& request) {
  Executor executor(store());
  return wait<ExecuteStatementResponse>([&](auto done) { executor.execute_statement(request, std::move(done)); });
}

store::Answer<BatchExecuteStatementResponse> StatementTest::execute(const BatchExecuteStatementRequest& request) {
  Executor executor(store());
  return wait<BatchExecuteStatementResponse>(
      [&](auto done) { executor.batch_execute_statement(request, std::move(done)); });
}

store::Answer<ExecuteTransactionResponse> StatementTest::execute(const ExecuteTransactionRequest& request) {
  Executor executor(store());
  return wait<ExecuteTransactionResponse>([&](auto done) { executor.execute_transaction(request, std::move(done)); });
}

std::string StatementTest::run(const std::string& text, const std::vector<std::string>& parameters) {
  const auto answer = execute({.statement = statement(text, parameters)});
  if (!answer) return engine::outcome(answer);
  std::string items;
  for (const item::Item& item : answer->items) items.append(items.empty() ? "" : " ").append(item::to_json(item));
  return items;
}

std::string StatementTest::column(const std::string& name, const std::string& text,
                                  const std::vector<std::string>& parameters) {
  const auto answer = execute({.statement = statement(text, parameters)});
  if (!answer) return engine::outcome(answer);
  std::string values;
  for (const item::Item& item : answer->items) {
    const item::AttributeValue* value = item.find(name);
    values.append(values.empty() ? "" : " ");
    if (value == nullptr) {
      values += "-";
    } else if (const auto* number = value->get_if<item::Number>()) {
      number->append_to(values);
    } else {
      values += value->as<std::string>();
    }
  }
  return values;
}

std::string StatementTest::batch(const std::vector<std::string>& texts) {
  BatchExecuteStatementRequest request;
  for (const std::string& text : texts) request.statements.push_back({.statement = statement(text)});
  return batch(request);
}

std::string StatementTest::batch(const BatchExecuteStatementRequest& request) {
  const auto answer = execute(request);
  if (!answer) return engine::outcome(answer);
  return joined(answer->results, [](const BatchStatementResult& result) { return text_of(result); });
}

std::string StatementTest::transaction(const std::vector<std::string>& texts) {
  ExecuteTransactionRequest request;
  for (const std::string& text : texts) request.statements.push_back({.statement = statement(text)});
  return transaction(request);
}

std::string StatementTest::transaction(const ExecuteTransactionRequest& request) {
  const auto answer = execute(request);
  if (!answer && answer.error().type == store::ErrorType::transaction_canceled) {
    const auto& reasons = answer.error().details->reasons;
    std::string codes;
    for (const auto& reason : reasons) codes.append(codes.empty() ? "" : ", ").append(reason.code);
    EXPECT_EQ(answer.error().message,
              "Transaction cancelled, please refer cancellation reasons for specific reasons [" + codes + "]");
    return "cancelled: " + joined(reasons, [](const store::CancellationReason& reason) { return text_of(reason); });
  }
  if (!answer) return engine::outcome(answer);
  if (answer->items.empty()) return "ok";
  return joined(answer->items,
                [](const std::optional<item::Item>& item) { return item ? item::to_json(*item) : std::string("-"); });
}

}  // namespace postino::partiql

// Runs statements and shows what came back as text that a test can compare.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine_testing.h"
#include "partiql/executor.h"

namespace postino::partiql {

// Parameters are DynamoDB's JSON, one value each.
Statement statement(std::string text, const std::vector<std::string>& parameters = {});

class StatementTest : public engine::EngineTest {
 protected:
  store::Answer<ExecuteStatementResponse> execute(const ExecuteStatementRequest& request);
  store::Answer<BatchExecuteStatementResponse> execute(const BatchExecuteStatementRequest& request);
  store::Answer<ExecuteTransactionResponse> execute(const ExecuteTransactionRequest& request);

  // The items as JSON, one after the other with a space between; or the error, as "Name: message".
  std::string run(const std::string& text, const std::vector<std::string>& parameters = {});
  // The values of one string or number attribute of the items, in their order.
  std::string column(const std::string& name, const std::string& text, const std::vector<std::string>& parameters = {});

  // Slots joined by " | ": the item or nothing, "Code: message" where it failed, and " @table" where that is shown.
  std::string batch(const std::vector<std::string>& texts);
  std::string batch(const BatchExecuteStatementRequest& request);

  // The items of reads ("-" for none), joined by " | ", or "ok"; or the error, and for a cancelled transaction its
  // reasons in the same form.
  std::string transaction(const std::vector<std::string>& texts);
  std::string transaction(const ExecuteTransactionRequest& request);
};

}  // namespace postino::partiql

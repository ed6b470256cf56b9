// What the API says about itself.
#include "api/openapi.h"
#include "api/route_list.h"

namespace postino::api {

namespace {

Outcome check_health(Call& /*call*/) { return json_reply(R"({"status":"ok"})"); }

Outcome describe(Call& /*call*/) {
  static const std::string document = openapi_document(all_routes());
  return json_reply(document);
}

}  // namespace

std::vector<Route> description_routes() {
  return {
      {.operation = {.id = "checkHealth",
                     .method = "GET",
                     .path = "/health-check",
                     .right = Right::none,
                     .group = "Description",
                     .summary = "Check that the server is alive",
                     .answers = {{200, "The server is alive.", {{json_content_type, "Health"}}}}},
       .handle = check_health,
       .direct = true},
      {.operation = {.id = "describeApi",
                     .method = "GET",
                     .path = "/openapi.json",
                     .right = Right::none,
                     .group = "Description",
                     .summary = "Get the description of the API",
                     .answers = {{200, "The OpenAPI 3.1 document.", {{json_content_type, "Description"}}}}},
       .handle = describe,
       .direct = true},
  };
}

}  // namespace postino::api

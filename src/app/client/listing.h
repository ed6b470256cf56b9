// Lists of the REST API that come page by page, printed as one table.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/client/rest_client.h"
#include "app/console/console.h"
#include "app/console/table_text.h"
#include "json/fields.h"

namespace CLI {
class App;
}

namespace postino::app {

struct ListingOptions {
  std::int64_t limit = 50;
  bool all = false;
};
void add_listing_options(CLI::App& command, ListingOptions& options);

struct Listing {
  std::string path;                                             // "/emails"
  std::vector<std::pair<std::string, std::string>> parameters;  // of the query, besides cursor and limit
  std::string label;                                            // for the progress: "reading e-mails"
  std::vector<Column> columns;
  std::vector<std::string> (*cells)(json::Element entry) = nullptr;  // one for each column
};

// With `json`, prints each page as the server has answered it, on a line of its own.
base::Result<void> print_listing(RestClient& client, const Listing& listing, const ListingOptions& options, bool json,
                                 const Console& console);

}  // namespace postino::app

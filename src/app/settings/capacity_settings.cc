#include "app/settings/capacity_settings.h"

#include <filesystem>

#include "app/console/input_file.h"
#include "app/settings/setting_values.h"

namespace postino::app {

namespace {

using Capacity = CapacitySettings;

}  // namespace

std::vector<Setting> capacity_settings() {
  using enum SettingKind;
  return {
      {"capacity.no_watch", "--no-watch", "POSTINO_NO_WATCH", "",
       "do not watch the traffic of the store: 'postino capacity observe' has nothing to tell then", flag,
       take_boolean<&Capacity::no_watch>, show_boolean<&Capacity::no_watch>},
      {"capacity.prices", "--prices", "POSTINO_PRICES", "FILE",
       "prices of DynamoDB (JSON) that capacity is planned with; if not set, those that come with the program", text,
       take_text<&Capacity::prices>, show_text<&Capacity::prices>},
  };
}

base::Result<capacity::PriceBook> read_prices(const CapacitySettings& settings) {
  if (settings.prices.empty()) return capacity::built_in_prices();
  // The program would wait for the writer of a pipe.
  std::error_code unknown;
  const auto status = std::filesystem::status(settings.prices, unknown);
  if (settings.prices != "-" && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return base::invalid(settings.prices + " is not a regular file");
  TRY(const std::string text, read_input(settings.prices, capacity::PriceLimits::file_bytes));
  return capacity::read_price_file(settings.prices, text);
}

base::Result<void> check(const CapacitySettings& settings) {
  if (const auto prices = read_prices(settings); !prices)
    return base::fail(prices.error().code, "--prices: " + prices.error().message);
  return {};
}

}  // namespace postino::app

// Exports and imports as the store keeps them: JSON objects of texts.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "exchange/transfers.h"

namespace postino::exchange {

std::string text_of(const ExportDescription& description);
base::Result<ExportDescription> read_export(std::string_view text);

std::string text_of(const ImportDescription& description);
base::Result<ImportDescription> read_import(std::string_view text);

// What two requests with one token must have in common.
std::string fingerprint_of(const ExportRequest& request);
std::string fingerprint_of(const ImportRequest& request);

}  // namespace postino::exchange

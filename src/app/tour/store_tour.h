// A guided tour of the store, for newcomers: a small outbox of e-mails, step by step.
#pragma once

#include <filesystem>
#include <ostream>

#include "store/error.h"

namespace postino::app {

// Tells on `out` what it does. Works in `directory` and leaves its data there, or in a temporary one when it is empty.
store::Answer<void> run_store_tour(const std::filesystem::path& directory, std::ostream& out);

}  // namespace postino::app

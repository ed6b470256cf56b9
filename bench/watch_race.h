// What it costs a server to watch the traffic of its store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "http_load.h"
#include "rounds.h"

namespace postino::bench {

// Two servers, of which one watches, get the same requests in turns. Prints the processor time that each of them takes
// for a request, and by how much they differ. `fill` makes the tables of a server.
void measure_watch(const std::filesystem::path& program, const std::filesystem::path& directory, const Plan& plan,
                   const std::function<void(std::uint16_t port)>& fill,
                   const std::vector<std::pair<std::string, RequestSource>>& requests);

}  // namespace postino::bench

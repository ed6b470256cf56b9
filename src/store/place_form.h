// The stored forms of a reader's place in a stream. Where the stream is one sequence: its position. Where it has
// several shards at a time: a map with the position of each, which is "" where nothing of a shard is done.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "item/value.h"
#include "store/stream.h"

namespace postino::store {

// In an item: the attribute of the given name, or `shards`; and `stream`. Of a place without positions that of the
// stream alone.
void put_place(item::Item& item, const std::string& position, const StreamPlace& place);
// nullopt: there is none that can be read.
std::optional<StreamPlace> place_in(const item::Item& item, std::string_view position);

// As text: "{position} {ARN of the stream}", or "{shard}={position},{shard}={position} {ARN of the stream}".
std::string text_of_place(const StreamPlace& place);
std::optional<StreamPlace> place_in_text(std::string_view text);

}  // namespace postino::store

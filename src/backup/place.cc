#include "backup/place.h"

#include <utility>

namespace postino::backup {

std::string chunk_object(std::string_view chunk) {
  return std::string(chunks_folder).append(chunk.substr(0, 2)).append("/").append(chunk);
}

base::Result<Place::Listing> Place::list(std::string_view folder) {
  const std::string begin = prefix_ + std::string(folder);
  Listing listing;
  std::string after;
  while (true) {
    TRY(objects::ObjectPage page, objects_.list(begin, after, objects::most_listed));
    listing.now = page.now;
    if (!page.objects.empty()) after = page.objects.back().name;
    for (objects::ObjectInfo& object : page.objects) {
      object.name.erase(0, begin.size());
      listing.objects.push_back(std::move(object));
    }
    if (!page.has_more || page.objects.empty()) return listing;
  }
}

}  // namespace postino::backup

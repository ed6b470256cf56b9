// Live metrics as people read them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "json/document.h"

namespace postino::app {

// The answer of getFigures, one line for each figure.
std::string figures_text(json::Element figures);

// The answer of getFigureHistory, one line for each thing that happened in a minute, hour or day.
std::string history_text(json::Element history);

// Takes server-sent events out of what comes part by part.
class EventReader {
 public:
  // `tell` gets the data of each event that is whole.
  void feed(std::string_view part, const std::function<void(std::string_view data)>& tell);

 private:
  std::string rest_;  // what has come of an event that is not whole
};

}  // namespace postino::app

// What the capacity planner answers, as people read it.
#pragma once

#include "app/client/answer.h"
#include "app/console/console.h"

namespace postino::app {

// Of the operation planCapacity.
void print_estimate(const AnswerObject& estimate, const Console& console);
// Of the operation planCapacityAsFormerly: it has binary fractions, which are shown as they came.
void print_former_analysis(json::Element analysis, const Console& console);
// Of the operation getObservedTraffic.
void print_observation(const AnswerObject& observation, const Console& console);

}  // namespace postino::app

// How the embedded store is opened, as the settings have it.
#pragma once

#include "app/settings/settings.h"
#include "engine/engine.h"

namespace postino::app {

engine::Options engine_options(const Settings& settings);

}  // namespace postino::app

// Looking after a store that no process has open.
#pragma once

#include "engine/recovery/store_check.h"
#include "engine/recovery/store_repair.h"

// A precompiled header belongs to a target, and a target has a source.
#include "precompiled.h"

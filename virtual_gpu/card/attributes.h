// Attributes of the pretend card by number; the driver and the runtime number them alike.
#pragma once

#include "card/export.h"

namespace gapless::card {

GAPLESS_EXPORT int device_attribute(int number);

}  // namespace gapless::card

// The real headers; CUPTI_LIB makes their functions visible, all else in this library is hidden.
#pragma once
#define CUPTI_LIB 1
#include <cupti.h>

#include "../bridge.h"

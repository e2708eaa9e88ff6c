// CUPTI's numbers of the driver's and runtime's functions, and of its resource callbacks; no CUPTI function is used.
#pragma once
#include <cupti.h>

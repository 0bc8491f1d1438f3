#include "base/fault.h"

fault_fn fault_hook = NULL;

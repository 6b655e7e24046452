/* SPDX-License-Identifier: GPL-2.0-or-later */
/* format_causes.h - the rows of the table of causes, which the report shows as well. */
#pragma once

#include "causes/causes.h"
#include "format.h"

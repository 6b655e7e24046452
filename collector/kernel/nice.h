/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nice.h - the nice values that the recorder takes, if it is allowed to.
 */
#pragma once

/* While somebody waits for it to begin, and for little else. */
#define NICE_HIGHEST (-20)
/* Half of a CPU that ten ordinary threads want. */
#define NICE_RECORDING (-10)

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The colours of a chain graph can be told apart, also with protanopia, deuteranopia and
 * tritanopia: simulated by the matrices of Machado, Oliveira and Fernandes (2009) for a complete
 * deficiency, in linear RGB; distances in CIELAB, where 2.3 is just noticeable.
 */
#include "test.h"

#include <math.h>

#include "label.h"
#include "palette.h"

static const double eyes[4][3][3] = {
	{ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	{ { 0.152286, 1.052583, -0.204868 },
	  { 0.114503, 0.786281, 0.099216 },
	  { -0.003882, -0.048116, 1.051998 } },
	{ { 0.367322, 0.860646, -0.227968 },
	  { 0.280085, 0.672501, 0.047413 },
	  { -0.011820, 0.042940, 0.968881 } },
	{ { 1.255528, -0.076749, -0.178779 },
	  { -0.078411, 0.930809, 0.147602 },
	  { 0.004733, 0.691367, 0.303900 } },
};
static const char *const eye_names[] = { "all cones", "protanopia", "deuteranopia", "tritanopia" };

static void linear(uint32_t rgb, double out[3])
{
	for (int i = 2; i >= 0; i--, rgb >>= 8) {
		double v = (rgb & 0xff) / 255.0;

		out[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
	}
}

static double cube(double t)
{
	return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116;
}

static void lab(uint32_t rgb, const double eye[3][3], double out[3])
{
	double l[3], s[3], x, y, z;

	linear(rgb, l);
	for (int i = 0; i < 3; i++)
		s[i] = fmin(1, fmax(0, eye[i][0] * l[0] + eye[i][1] * l[1] + eye[i][2] * l[2]));
	x = cube((0.4124 * s[0] + 0.3576 * s[1] + 0.1805 * s[2]) / 0.9505);
	y = cube(0.2126 * s[0] + 0.7152 * s[1] + 0.0722 * s[2]);
	z = cube((0.0193 * s[0] + 0.1192 * s[1] + 0.9505 * s[2]) / 1.089);
	out[0] = 116 * y - 16;
	out[1] = 500 * (x - y);
	out[2] = 200 * (y - z);
}

/* The least distance between two shades of different ramps, to all eyes. */
static double distance(enum ramp a, enum ramp b, int *eye)
{
	double least = INFINITY;

	for (int e = 0; e < 4; e++)
		for (unsigned s = 0; s < PALETTE_SHADES; s += 5)
			for (unsigned t = 0; t < PALETTE_SHADES; t += 5) {
				double p[3], q[3], d;

				lab(palette_rgb(a, s), eyes[e], p);
				lab(palette_rgb(b, t), eyes[e], q);
				d = sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) +
					 pow(p[2] - q[2], 2));
				if (d < least) {
					least = d;
					*eye = e;
				}
			}
	return least;
}

TEST(waits_samples_objects_and_ends_are_told_apart_by_all_eyes)
{
	static const enum ramp ramps[] = {
		RAMP_OFF_CPU,	RAMP_LINK_1,  RAMP_OBJECT,   RAMP_SAMPLE,    RAMP_ON_CPU,
		RAMP_INTERRUPT, RAMP_TIMER,   RAMP_NETWORK,  RAMP_DISK,	     RAMP_QUEUED,
		RAMP_DEVICE,	RAMP_RUNNING, RAMP_RUNNABLE, RAMP_THROTTLED, RAMP_PREEMPTED,
		RAMP_NOT_WOKEN, RAMP_DEPTH,   RAMP_LOOP,     RAMP_UNKNOWN,
	};
	const size_t n = sizeof(ramps) / sizeof(*ramps);

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			int eye = 0;
			double d = distance(ramps[i], ramps[k], &eye);

			/* Three times what is just noticeable, for the closest shades. */
			if (d < 7)
				fail_msg("%s and %s: %.1f with %s", palette_legend(ramps[i]),
					 palette_legend(ramps[k]), d, eye_names[eye]);
		}
}

static double luminance(uint32_t rgb)
{
	double l[3];

	linear(rgb, l);
	return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
}

TEST(every_text_has_the_contrast_that_wcag_asks_for)
{
	for (unsigned r = 0; r < RAMPS; r++)
		for (unsigned s = 0; s < PALETTE_SHADES; s++) {
			uint32_t rgb = palette_rgb((enum ramp)r, s);
			double ground = luminance(rgb), text = label_light(rgb) ? 1 : 0;
			double contrast = (fmax(ground, text) + 0.05) / (fmin(ground, text) + 0.05);

			if (contrast < 4.5)
				fail_msg("ramp %u, shade %u: %.2f", r, s, contrast);
		}
}

/* As an eye sees it. */
static double seen(uint32_t rgb, const double eye[3][3])
{
	static const double weight[] = { 0.2126, 0.7152, 0.0722 };
	double l[3], sum = 0;

	linear(rgb, l);
	for (int i = 0; i < 3; i++)
		sum += weight[i] *
		       fmin(1, fmax(0, eye[i][0] * l[0] + eye[i][1] * l[1] + eye[i][2] * l[2]));
	return sum;
}

static double contrast(uint32_t a, uint32_t b, const double eye[3][3])
{
	double x = seen(a, eye), y = seen(b, eye);

	return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

/*
 * A frame is bounded by a line of the ground, which is light or dark, and between two threads is a
 * bar: page.css has these colours. Each has the contrast that WCAG asks for, so that neighbours of
 * like colours are told apart by what is between them, also without any hue.
 */
TEST(every_colour_of_chains_and_differences_has_three_to_one_to_grounds_and_bars)
{
	static const uint32_t schemes[][2] = { { 0xfafafc, 0x101010 }, { 0x15181d, 0xffffff } };
	uint32_t top, bottom;

	assert_true(palette_background(palette_find("chain")->background, &top, &bottom));
	assert_int_equal(top, schemes[0][0]);
	assert_int_equal(bottom, schemes[0][0]);
	assert_int_equal(palette_rgb(RAMP_STACK_DELIM, 0), schemes[0][1]);
	for (unsigned r = RAMP_PART_DELIM; r <= RAMP_LESS; r++)
		for (unsigned s = 0; s < PALETTE_SHADES; s++)
			for (size_t k = 0; k < 16; k++) {
				uint32_t ground = schemes[k / 2 % 2][k % 2];
				double c =
					contrast(palette_rgb((enum ramp)r, s), ground, eyes[k / 4]);

				if (c < 3)
					fail_msg("ramp %u, shade %u, to %06x with %s: %.2f", r, s,
						 ground, eye_names[k / 4], c);
			}
}

TEST(objects_and_ends_are_known_by_name)
{
	static const struct {
		const char *name;
		enum ramp ramp;
	} known[] = {
		{ "[tcp 10.0.0.5:5432]", RAMP_OBJECT },
		{ "[futex]", RAMP_OBJECT },
		{ "[file /a b]", RAMP_OBJECT },
		{ "[disk vda read]", RAMP_DISK },
		{ "[queued]", RAMP_QUEUED },
		{ "[device]", RAMP_DEVICE },
		{ "[throttled]", RAMP_THROTTLED },
		{ "[throttled shop.service]", RAMP_THROTTLED },
		{ "[idle CPU]", RAMP_RUNNABLE },
		{ "[recorder]", RAMP_RUNNABLE },
		{ "[no events]", RAMP_RUNNABLE },
		{ "[on-CPU]", RAMP_ON_CPU },
		{ "[vsock 2:1024]", RAMP_OBJECT },
		{ "[aio]", RAMP_OBJECT },
		{ "[timer]", RAMP_TIMER },
		{ "[network]", RAMP_NETWORK },
		{ "[filex]", RAMP_BY_LINK },
		{ "[anon]", RAMP_BY_LINK }, /* generated code */
		{ "[libc.so.6]", RAMP_BY_LINK },
		{ "[]", RAMP_BY_LINK },
		{ "[", RAMP_BY_LINK },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_int_equal(palette_ramp(palette_find("chain"), known[i].name,
					      __builtin_strlen(known[i].name)),
				 known[i].ramp);
}

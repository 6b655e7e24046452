<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that says itself where it is, as paths.py: it calls functions a to h in an order that it draws, some of
// them through PHP's own functions. For paths_judge.py:
//
// letters: __construct E, yields H, make M, nap n, step s, {closure} x
// shape: (s([adf]|b(x|$)|c(x|$)|e(E|$)|g(M|$)|h(H|$)|$))*s?n?
// outermost: loop

function say(string $name): void
{
    file_put_contents('/proc/self/comm', $name);
}

function nap(): void
{
    usleep(random_int(0, 4000));
}

function step(string $path, int $at): void
{
    if ($at === strlen($path)) {
        nap();
    } else {
        $path[$at]($path, $at + 1);
    }
}

function a(string $path, int $at): void
{
    step($path, $at);
}

function b(string $path, int $at): void
{
    $all = [1, 2];
    $once = false;
    usort($all, function ($x, $y) use ($path, $at, &$once) {
        if (!$once) {
            $once = true;
            step($path, $at);
        }
        return 0;
    });
}

function c(string $path, int $at): void
{
    array_map(fn($j) => step($path, $j), [$at]);
}

function d(string $path, int $at): void
{
    call_user_func('step', $path, $at);
}

class Maker
{
    public function __construct(string $path, int $at)
    {
        step($path, $at);
    }

    public static function make(string $path, int $at): void
    {
        step($path, $at);
    }
}

function e(string $path, int $at): void
{
    new Maker($path, $at);
}

function f(string $path, int $at): void
{
    // Its code is freed right away, and the next one takes its place.
    eval(str_repeat("\n", $at % 5) . 'step($path, $at);');
}

function g(string $path, int $at): void
{
    Maker::make($path, $at);
}

function yields(string $path, int $at): Generator
{
    yield step($path, $at);
}

function h(string $path, int $at): void
{
    foreach (yields($path, $at) as $_);
}

function loop(): void
{
    while (true) {
        $path = '';
        for ($i = random_int(1, 13); $i; $i--) {
            $path .= 'abcdefgh'[random_int(0, 7)];
        }
        say("P:$path");
        step($path, 0);
        say('between');
    }
}

mt_srand((int) ($argv[1] ?? 1));
loop();

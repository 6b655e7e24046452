// SPDX-License-Identifier: GPL-2.0-or-later
// Sleeps at the end of a stack of Rust code, built with panic=abort. As shapes.c.
use std::io::Write;
use std::time::Duration;

// As std::hint::black_box, which Rust 1.63 does not have yet.
fn black_box(value: u32) -> u32 {
    unsafe { std::ptr::read_volatile(&value) }
}

#[inline(never)]
fn nap(depth: u32) -> u32 {
    if depth > 0 {
        return black_box(nap(depth - 1)) + 1;
    }
    println!("ready {}", std::process::id());
    std::io::stdout().flush().unwrap();
    loop {
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn main() {
    let closure = |n| nap(n);
    println!("{}", black_box(closure(black_box(5))));
}

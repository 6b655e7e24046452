// SPDX-License-Identifier: GPL-2.0-or-later
//! Tiles of a map. Each answer is logged to standard error, a pipe, under a lock. With --healthy a thread of its own
//! writes the log.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

enum Log {
    Shared(Mutex<std::fs::File>),
    Sent(Mutex<Sender<String>>),
}

impl Log {
    /// How long it waited for the lock.
    #[inline(never)]
    fn served(&self, line: String) -> Duration {
        let begin = Instant::now();
        match self {
            Log::Shared(file) => {
                let mut file = file.lock().unwrap();
                let waited = begin.elapsed();
                file.write_all(line.as_bytes()).unwrap();
                waited
            }
            Log::Sent(to_writer) => {
                let to_writer = to_writer.lock().unwrap();
                let waited = begin.elapsed();
                to_writer.send(line).unwrap();
                waited
            }
        }
    }
}

#[inline(never)]
fn draw_tile(request: &[u8]) -> u64 {
    let mut hash = 14695981039346656037u64;
    for _ in 0..200 {
        for byte in request {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(1099511628211);
        }
    }
    hash
}

fn serve(mut client: TcpStream, log: &Log) {
    let mut request = [0; 2048];
    client.set_nodelay(true).unwrap();
    while let Ok(n) = client.read(&mut request) {
        if n == 0 {
            return;
        }
        let tile = draw_tile(&request[..n]);
        let waited = log.served(format!("served {tile:01800x}\n"));
        let answer = format!("HTTP/1.1 200 OK\r\nX-Waited: {}\r\nContent-Length: 3\r\n\r\nok\n", waited.as_micros());
        client.write_all(answer.as_bytes()).unwrap();
    }
}

fn main() {
    let file = std::fs::OpenOptions::new().write(true).open("/proc/self/fd/2").unwrap();
    let log = Arc::new(if std::env::args().len() > 1 {
        let (to_writer, lines) = channel::<String>();
        thread::Builder::new()
            .name("log writer".into())
            .spawn(move || {
                let mut file = file;
                for line in lines {
                    file.write_all(line.as_bytes()).unwrap();
                }
            })
            .unwrap();
        Log::Sent(Mutex::new(to_writer))
    } else {
        Log::Shared(Mutex::new(file))
    });
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("port {}", listener.local_addr().unwrap().port());
    for client in listener.incoming() {
        let log = log.clone();
        thread::Builder::new().name("tiles".into()).spawn(move || serve(client.unwrap(), &log)).unwrap();
    }
}

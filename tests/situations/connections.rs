// SPDX-License-Identifier: GPL-2.0-or-later
//! Items of a store that is asked by three connections (argument: its port). An export keeps one of them while it asks
//! a carrier (its port is the next argument); not with --healthy.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

struct Pool {
    free: Mutex<Vec<TcpStream>>,
    given_back: Condvar,
}

impl Pool {
    #[inline(never)]
    fn take(&self) -> TcpStream {
        let mut free = self.free.lock().unwrap();
        loop {
            match free.pop() {
                Some(connection) => return connection,
                None => free = self.given_back.wait(free).unwrap(),
            }
        }
    }
    fn give_back(&self, connection: TcpStream) {
        self.free.lock().unwrap().push(connection);
        self.given_back.notify_one();
    }
}

fn connect(port: &str) -> TcpStream {
    let connection = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    connection.set_nodelay(true).unwrap();
    connection
}

#[inline(never)]
fn ask(connection: &mut TcpStream, ms: u32) {
    let mut answer = [0; 64];
    connection.write_all(format!("{ms}\n").as_bytes()).unwrap();
    assert!(connection.read(&mut answer).unwrap() > 0);
}

#[inline(never)]
fn send_export(carrier: &str) {
    ask(&mut connect(carrier), 150);
}

#[inline(never)]
fn look_up_item(pool: &Pool) -> Duration {
    let begin = Instant::now();
    let mut connection = pool.take();
    let waited = begin.elapsed();
    ask(&mut connection, 0);
    pool.give_back(connection);
    waited
}

#[inline(never)]
fn export_items(pool: &Pool, carrier: &str, healthy: bool) -> Duration {
    let begin = Instant::now();
    let mut connection = pool.take();
    let waited = begin.elapsed();
    ask(&mut connection, 0);
    if healthy {
        pool.give_back(connection);
        send_export(carrier);
    } else {
        send_export(carrier);
        pool.give_back(connection);
    }
    waited
}

fn serve(mut client: TcpStream, pool: &Pool, carrier: &str, healthy: bool) {
    let mut request = [0; 2048];
    client.set_nodelay(true).unwrap();
    while let Ok(n) = client.read(&mut request) {
        if n == 0 {
            return;
        }
        let waited = if request.starts_with(b"GET /export") {
            export_items(pool, carrier, healthy)
        } else {
            look_up_item(pool)
        };
        let answer = format!("HTTP/1.1 200 OK\r\nX-Waited: {}\r\nContent-Length: 3\r\n\r\nok\n", waited.as_micros());
        client.write_all(answer.as_bytes()).unwrap();
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let healthy = arguments.len() > 3;
    let pool = Arc::new(Pool {
        free: Mutex::new((0..3).map(|_| connect(&arguments[1])).collect()),
        given_back: Condvar::new(),
    });
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("port {}", listener.local_addr().unwrap().port());
    for client in listener.incoming() {
        let (pool, carrier) = (pool.clone(), arguments[2].clone());
        thread::Builder::new()
            .name("desk".into())
            .spawn(move || serve(client.unwrap(), &pool, &carrier, healthy))
            .unwrap();
    }
}

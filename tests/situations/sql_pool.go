// SPDX-License-Identifier: GPL-2.0-or-later
// Stock of a store, by database/sql with three connections to it (argument: its port). A report keeps one of them, in a
// transaction, while it asks a carrier (its port is the next argument); with --healthy it asks after the transaction.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// A driver whose statements are the lines that the store answers.
type storeDriver struct{}

type storeConn struct {
	connection net.Conn
	reader     *bufio.Reader
}

type storeTx struct{}

func (storeTx) Commit() error   { return nil }
func (storeTx) Rollback() error { return nil }

func ask(connection net.Conn, reader *bufio.Reader, line string) {
	fmt.Fprintln(connection, line)
	if _, err := reader.ReadString('\n'); err != nil {
		panic(err)
	}
}

func dial(port string) *storeConn {
	connection, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	return &storeConn{connection, bufio.NewReader(connection)}
}

func (storeDriver) Open(port string) (driver.Conn, error) { return dial(port), nil }
func (c *storeConn) Close() error                         { return c.connection.Close() }
func (c *storeConn) Begin() (driver.Tx, error)            { return storeTx{}, nil }
func (c *storeConn) Prepare(string) (driver.Stmt, error)  { return nil, errors.New("not needed") }
func (c *storeConn) ExecContext(_ context.Context, line string, _ []driver.NamedValue) (driver.Result, error) {
	ask(c.connection, c.reader, line)
	return driver.ResultNoRows, nil
}

var store *sql.DB
var healthy = len(os.Args) > 3

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func answer(w http.ResponseWriter, waited time.Duration) {
	w.Header().Set("X-Waited", fmt.Sprint(waited.Microseconds()))
	fmt.Fprint(w, "ok\n")
}

//go:noinline
func askCarrier() {
	carrier := dial(os.Args[2])
	defer carrier.Close()
	ask(carrier.connection, carrier.reader, "150")
}

//go:noinline
func stock(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	connection, err := store.Conn(r.Context())
	check(err)
	waited := time.Since(begin)
	_, err = connection.ExecContext(r.Context(), "0")
	check(err)
	check(connection.Close())
	answer(w, waited)
}

//go:noinline
func report(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	transaction, err := store.Begin()
	check(err)
	waited := time.Since(begin)
	_, err = transaction.Exec("0")
	check(err)
	if !healthy {
		askCarrier()
	}
	check(transaction.Commit())
	if healthy {
		askCarrier()
	}
	answer(w, waited)
}

func main() {
	var err error
	sql.Register("store", storeDriver{})
	store, err = sql.Open("store", os.Args[1])
	check(err)
	store.SetMaxOpenConns(3)
	store.SetMaxIdleConns(3)
	http.HandleFunc("/stock", stock)
	http.HandleFunc("/report", report)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	check(http.Serve(listener, nil))
}

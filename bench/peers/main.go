// Command peers reads an API description with libopenapi and prints the
// milliseconds of processor time and the megabytes of memory that it took: what
// anvil's compiler is compared with by go run ./bench compile --libopenapi.
package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/pb33f/libopenapi"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("got %q, want one file", args)
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	doc, err := libopenapi.NewDocument(data)
	if err != nil {
		return err
	}
	if strings.HasPrefix(doc.GetVersion(), "2") {
		_, err = doc.BuildV2Model()
	} else {
		_, err = doc.BuildV3Model()
	}
	if err != nil {
		return err
	}
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return err
	}
	took := time.Duration(r.Utime.Nano() + r.Stime.Nano())
	fmt.Printf("%.1f %.1f\n", took.Seconds()*1000, float64(r.Maxrss)/1024)
	return nil
}

package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
)

// newFlags are the flags of a part of this program, to be filled and parsed.
func newFlags(name string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	return flags
}

// parseFlags reads the flags of a part, which takes no arguments.
func parseFlags(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s takes no arguments, got %q", flags.Name(), flags.Args())
	}
	return nil
}

// parseShort reads flags of a part that has --short, a quick run: values are what it
// gives to the flags that are not given.
func parseShort(flags *flag.FlagSet, args []string, values map[string]string) (short bool, err error) {
	usage := "a quick run:"
	for _, name := range slices.Sorted(maps.Keys(values)) {
		usage += " --" + name + " " + values[name]
	}
	flags.BoolVar(&short, "short", false, usage+", and less work besides; flags that are given win")
	if err := parseFlags(flags, args); err != nil || !short {
		return false, err
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range values {
		if given[name] {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return false, err
		}
	}
	return true, nil
}

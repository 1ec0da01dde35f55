package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Main runs the command that args (without the program's name) call for and
// returns the exit code. Errors are printed here and nowhere else. Signals are
// the caller's: it hands them over as the end of ctx.
func Main(ctx context.Context, root *cobra.Command, args []string, s Streams) int {
	root.SetIn(s.In)
	out := &heard{w: s.Out}
	root.SetOut(out)
	root.SetErr(s.Err)
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(flagError)
	if root.Version == "" {
		root.Version = Version()
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetHelpCommand(helpCommand())
	prepare(root)
	var misnamed error
	refuseHelp(root, &misnamed)
	cmd, err := root.ExecuteContextC(ctx)
	if err = groupError(cmd, err); err == nil {
		err = cmp.Or(misnamed, out.err)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	return Report(s.Err, root.Name(), err)
}

// Version is the program's version as the Go toolchain recorded it: the module
// version, or "devel" with the commit it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel " + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

// prepare makes a command that only groups others refuse an unknown name and a
// missing one: cobra would print help and call it success.
func prepare(cmd *cobra.Command) {
	if cmd.HasSubCommands() && !cmd.Runnable() {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		}
		cmd.RunE = func(cmd *cobra.Command, _ []string) error {
			return WithHint(fmt.Errorf("%s needs a command: %s", cmd.CommandPath(), strings.Join(commandNames(cmd), ", ")), seeHelp(cmd))
		}
	}
	for _, sub := range cmd.Commands() {
		prepare(sub)
	}
}

// refuseHelp makes --help behind an unknown name the error that the name is
// alone: cobra would print the help of the group.
func refuseHelp(root *cobra.Command, misnamed *error) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
			*misnamed = unknownCommand(cmd, cmd.Flags().Arg(0))
			return
		}
		help(cmd, args)
	})
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			names = append(names, sub.Name())
		}
	}
	return names
}

func unknownCommand(cmd *cobra.Command, name string) error {
	return WithHint(fmt.Errorf("unknown command %q of %s", name, cmd.CommandPath()), DidYouMean(name, commandNames(cmd)), seeHelp(cmd))
}

func seeHelp(cmd *cobra.Command) string {
	return "run '" + cmd.CommandPath() + " --help' for what it takes"
}

// helpCommand replaces cobra's, which calls an unknown topic success.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show help for a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), strings.Join(args, " "))
			}
			target.InitDefaultHelpFlag()
			target.InitDefaultVersionFlag()
			return target.Help()
		},
	}
}

// flagError says in this project's words what is wrong with an option.
func flagError(cmd *cobra.Command, err error) error {
	// The option of an unknown command is unknown too; the command is the mistake.
	if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
		return unknownCommand(cmd, cmd.Flags().Arg(0))
	}
	var unknown *pflag.NotExistError
	var noValue *pflag.ValueRequiredError
	var badValue *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		err = fmt.Errorf("unknown option -%s", unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		return WithHint(fmt.Errorf("unknown option --%s", name), DidYouMean("--"+name, optionNames(cmd)), seeHelp(cmd))
	case errors.As(err, &noValue):
		err = fmt.Errorf("--%s needs a value", noValue.GetFlag().Name)
	case errors.As(err, &badValue):
		err = valueError(badValue)
	}
	return WithHint(err, seeHelp(cmd))
}

// valueError names the type wanted where pflag would show the parser's words.
func valueError(e *pflag.InvalidValueError) error {
	wants := map[string]string{
		"int": "a whole number", "int64": "a whole number", "uint32": "a whole number from 0", "uint64": "a whole number from 0",
		"float64": "a number", "duration": "a duration, such as 30s", "bool": "true or false",
	}
	if want, ok := wants[e.GetFlag().Value.Type()]; ok {
		return fmt.Errorf("--%s: found %q, want %s", e.GetFlag().Name, e.GetValue(), want)
	}
	return fmt.Errorf("--%s: %w", e.GetFlag().Name, e.Unwrap())
}

func optionNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	slices.Sort(names)
	return slices.Compact(names)
}

// Args asks for one argument a name, in order; names in brackets may be left
// out, and a last name that ends in "..." takes all that follow.
func Args(names ...string) cobra.PositionalArgs {
	need := 0
	for need < len(names) && !strings.HasPrefix(names[need], "[") {
		need++
	}
	open := len(names) > 0 && strings.Contains(names[len(names)-1], "...")
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < need:
			return WithHint(fmt.Errorf("%s needs %s, found %d argument(s)", cmd.CommandPath(), strings.Join(names, " "), len(args)), seeHelp(cmd))
		case len(args) > len(names) && !open:
			return WithHint(fmt.Errorf("%s takes no argument %q", cmd.CommandPath(), args[len(names)]), seeHelp(cmd))
		}
		return nil
	}
}

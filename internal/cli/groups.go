package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// Cobra has no types for what is wrong with options together, only these texts.
const (
	allSet   = `^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`
	noneSet  = `^at least one of the flags in the group \[(.*)\] is required$`
	required = `^required flag\(s\) (".*") not set$`
)

// groupError says in this project's words what is wrong with options together.
func groupError(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	match := func(pattern string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(err.Error()) }
	if m := match(allSet); m != nil {
		return WithHint(fmt.Errorf("%s cannot be given together", options(m[1], " ", " and ")), "give one of them", seeHelp(cmd))
	}
	if m := match(noneSet); m != nil {
		return WithHint(fmt.Errorf("%s needs one of %s", cmd.CommandPath(), options(m[1], " ", " or ")), seeHelp(cmd))
	}
	if m := match(required); m != nil {
		return WithHint(fmt.Errorf("%s needs %s", cmd.CommandPath(), options(strings.ReplaceAll(m[1], `"`, ""), ", ", " and ")), seeHelp(cmd))
	}
	return err
}

// options writes a list of names as options: "--a, --b and --c".
func options(list, separator, last string) string {
	names := strings.Split(list, separator)
	for i := range names {
		names[i] = "--" + names[i]
	}
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + last + names[n]
	}
	return names[0]
}

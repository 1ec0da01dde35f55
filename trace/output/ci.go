package output

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"strings"

	"github.com/anvil-sim/anvil/trace"
)

// writeGitHub writes workflow commands, which the service shows beside the files.
func writeGitHub(b *bytes.Buffer, r *Result) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	prop := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, f := range c.Failures {
			at := f.Place
			if at.File == "" || at.Line == 0 && c.Place.File != "" {
				at = c.Place
			}
			b.WriteString("::error ")
			if at.File != "" {
				fmt.Fprintf(b, "file=%s,", prop.Replace(at.File))
				if at.Line > 0 {
					fmt.Fprintf(b, "line=%d,", at.Line)
				}
			}
			text := strings.Join(append([]string{f.Message}, f.Details...), "\n")
			fmt.Fprintf(b, "title=%s::%s\n", prop.Replace(clean(c.Name)), data.Replace(text))
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(b, "::notice title=anvil-trace %s::%s\n", r.Command, data.Replace(n))
	}
	level := "notice"
	if r.Failed() {
		level = "error"
	}
	fmt.Fprintf(b, "::%s title=anvil-trace %s::%s\n", level, r.Command, data.Replace(r.Summary))
}

func clean(s string) string { return trace.Clean(s) }

type junitSuites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Suite    junitSuite
}

type junitSuite struct {
	XMLName    xml.Name    `xml:"testsuite"`
	Name       string      `xml:"name,attr"`
	Tests      int         `xml:"tests,attr"`
	Failures   int         `xml:"failures,attr"`
	Properties []junitProp `xml:"properties>property"`
	Cases      []junitCase `xml:"testcase"`
	Out        string      `xml:"system-out,omitempty"`
}

type junitProp struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes the XML that CI services read; a comparison without
// differences is one case that passed.
func writeJUnit(b *bytes.Buffer, r *Result) error {
	name := "anvil-trace " + r.Command
	s := junitSuite{Name: clean(r.Input), Out: strings.Join(append(append([]string{}, r.Notes...), r.Summary), "\n")}
	for i, f := range r.Facts {
		s.Properties = append(s.Properties, junitProp{fmt.Sprintf("fact%d", i+1), f})
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		jc := junitCase{Name: clean(c.Name), Class: "anvil-trace." + strings.ReplaceAll(c.ID, "/", "."), File: c.Place.File, Line: c.Place.Line}
		if len(c.Failures) > 0 {
			s.Failures++
			jc.Failure = &junitFailure{clean(c.Failures[0].Message), c.ID, strings.Join(c.lines(), "\n")}
			if jc.File == "" {
				jc.File, jc.Line = c.Failures[0].Place.File, c.Failures[0].Place.Line
			}
		}
		s.Cases = append(s.Cases, jc)
	}
	if len(s.Cases) == 0 {
		s.Cases = []junitCase{{Name: "the traces are equal", Class: "anvil-trace." + r.Command}}
	}
	s.Tests = len(s.Cases)
	text, err := xml.MarshalIndent(junitSuites{Name: name, Tests: s.Tests, Failures: s.Failures, Suite: s}, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "%s%s\n", xml.Header, text)
	return nil
}

// lines are all failures of a case, each with its place and its details.
func (c *Case) lines() (out []string) {
	for _, f := range c.Failures {
		out = append(out, clean(f.Message))
		if f.Place.File != "" {
			out = append(out, "  at "+clean(f.Place.String()))
		}
		out = append(out, f.Details...)
	}
	if c.More > 0 {
		out = append(out, fmt.Sprintf("and %d more", c.More))
	}
	return out
}

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// writeSARIF writes SARIF 2.1.0. A rule is a rule's name, or the kind of a
// difference.
func writeSARIF(b *bytes.Buffer, r *Result) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "anvil-trace", Rules: []sarifRule{}}}, Results: []sarifResult{}}
	index := map[string]int{}
	for i := range r.Cases {
		c := &r.Cases[i]
		id, about := c.ID, c.ID
		if r.Command != "diff" {
			id, about = c.ID+"/"+c.Name, c.Name
		}
		at, ok := index[id]
		if !ok {
			at = len(run.Tool.Driver.Rules)
			index[id] = at
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{id, sarifText{about}})
		}
		for _, f := range c.Failures {
			res := sarifResult{RuleID: id, RuleIndex: at, Level: "error",
				Message: sarifText{strings.Join(append([]string{clean(f.Message)}, f.Details...), "\n")}}
			place := f.Place
			if place.File == "" {
				place = c.Place
			}
			loc := sarifLocation{sarifPhysical{Artifact: sarifArtifact{(&url.URL{Path: place.File}).String()}}}
			if place.Line > 0 {
				loc.Physical.Region = &sarifRegion{place.Line}
			}
			res.Locations = []sarifLocation{loc}
			run.Results = append(run.Results, res)
		}
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// writeTAP writes the Test Anything Protocol, version 13.
func writeTAP(b *bytes.Buffer, r *Result) {
	cases := r.Cases
	if len(cases) == 0 {
		cases = []Case{{Name: r.Summary}}
	}
	name := strings.NewReplacer("#", "\\#", "\n", " ")
	fmt.Fprintf(b, "TAP version 13\n1..%d\n", len(cases))
	for i := range cases {
		c := &cases[i]
		if len(c.Failures) == 0 {
			fmt.Fprintf(b, "ok %d - %s\n", i+1, name.Replace(clean(c.Name)))
			continue
		}
		fmt.Fprintf(b, "not ok %d - %s\n", i+1, name.Replace(clean(c.Name)))
		for _, l := range c.lines() {
			fmt.Fprintf(b, "# %s\n", l)
		}
	}
	for _, n := range append(append([]string{}, r.Notes...), r.Summary) {
		fmt.Fprintf(b, "# %s\n", n)
	}
}

// writeMarkdown writes a summary for a pull request.
func writeMarkdown(b *bytes.Buffer, r *Result) {
	verdict := "passed"
	if r.Failed() {
		verdict = "failed"
	}
	fmt.Fprintf(b, "### anvil-trace %s: %s\n\n**%s**\n\n", r.Command, verdict, markdown(r.Summary))
	for _, f := range append(append([]string{}, r.Facts...), r.Notes...) {
		fmt.Fprintf(b, "- %s\n", markdown(f))
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		if len(c.Failures) == 0 {
			continue
		}
		lines := c.lines()
		fence := "```"
		for strings.Contains(strings.Join(lines, "\n"), fence) {
			fence += "`"
		}
		fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n%s\n%s\n%s\n\n</details>\n", markdown(clean(c.Name)), fence, strings.Join(lines, "\n"), fence)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(b, "\n%d more finding(s) are not shown.\n", r.Omitted)
	}
}

// markdown escapes text that a trace or a file name could bend.
func markdown(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch c {
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '\\', '`', '*', '_', '[', ']', '#', '|', '~', '@', '!':
			b.WriteByte('\\')
			b.WriteRune(c)
		case '\n', '\r':
			b.WriteByte(' ')
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

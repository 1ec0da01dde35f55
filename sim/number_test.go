package sim_test

import (
	"strconv"
	"testing"

	"github.com/anvil-sim/anvil/internal/canon"
	"github.com/anvil-sim/anvil/sim"
)

var numberTexts = []struct {
	text, want string // want "" is no number
}{
	{"5", "5"}, {" 5 ", "5"}, {"007", "7"}, {"-4", "-4"}, {"+4", "4"}, {"-0", "0"}, {"1e2", "100"}, {"1.50", "1.5"}, {".5", "0.5"}, {"5.", "5"},
	{"0x1F", "31"}, {"0X1f", "31"}, {"0b101", "5"}, {"0o17", "15"}, {"1e21", "1e+21"}, {"1e-7", "1e-7"},
	{"9007199254740993", "9007199254740993"}, {"99999999999999999999", "99999999999999999999"}, {"\u00a05\u2003", "5"},
	{"0xFFFFFFFFFFFFFFFFFF", "4722366482869645213695"},
	{"", ""}, {" ", ""}, {"abc", ""}, {"1_000", ""}, {"Infinity", ""}, {"inf", ""}, {"NaN", ""}, {"1e400", ""}, {"0x", ""}, {"0x1p4", ""}, {"-0x1F", ""},
	{"0x-1", ""}, {"1e", ""}, {"e5", ""}, {".", ""}, {"+", ""}, {"--5", ""}, {"+-5", ""}, {"1,5", ""}, {"1 2", ""}, {"0x1_F", ""},
}

func TestNumberText(t *testing.T) {
	for _, tc := range numberTexts {
		got, ok := sim.NumberText(tc.text)
		if ok != (tc.want != "") || got != tc.want {
			t.Errorf("NumberText(%q) = %q, %v; want %q", tc.text, got, ok, tc.want)
		}
	}
}

func FuzzNumberText(f *testing.F) {
	for _, tc := range numberTexts {
		f.Add(tc.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := sim.NumberText(text)
		if !ok {
			return
		}
		if !canon.IsNumber(got) {
			t.Fatalf("NumberText(%q) = %q, no JSON number", text, got)
		}
		if again, ok := sim.NumberText(got); !ok || again != got {
			t.Fatalf("NumberText(%q) = %q, %v; want its own spelling to stay", got, again, ok)
		}
	})
}

func TestPageSizeText(t *testing.T) {
	for text, want := range map[string]int{"3": 3, "1e2": 100, "0x10": 16, "0": 0, "-3": 0, "2.5": 0, "": 0, "x": 0, "99999999999": 0, strconv.Itoa(1<<31 - 1): 1<<31 - 1} {
		if got := sim.PageSizeText(text); got != want {
			t.Errorf("PageSizeText(%q) = %d, want %d", text, got, want)
		}
	}
}

package vcr

import (
	"slices"
	"testing"
)

// exchanges makes some of bytes, each with a method and a path: so many that every
// cause is looked at.
func exchanges(data []byte) []*Interaction {
	methods := []string{"GET", "POST", "PUT", "DELETE"}
	paths := []string{"/a", "/a/1", "/a/2", "/a/1/b", "/c", "/a?q=1"}
	var list []*Interaction
	for _, b := range data[:min(len(data), maxCauses)] {
		list = append(list, &Interaction{Request: Request{Method: methods[b%4], URL: "https://h.test" + paths[int(b/4)%len(paths)], Body: Bytes{b / 64}}})
	}
	return list
}

func TestOrder(t *testing.T) {
	one := func(method, path string) *Interaction {
		return &Interaction{Request: Request{Method: method, URL: path}}
	}
	for _, c := range []struct {
		name string
		list []*Interaction
		want []int
	}{
		{"reads by path", []*Interaction{one("GET", "/b"), one("GET", "/a/2"), one("GET", "/a/1")}, []int{2, 1, 0}},
		{"a read stays behind the write before it", []*Interaction{one("GET", "/a/1"), one("POST", "/a"), one("GET", "/a/1")}, []int{0, 1, 2}},
		{"equal requests keep their order", []*Interaction{one("GET", "/b"), one("GET", "/a"), one("GET", "/a")}, []int{1, 2, 0}},
		{"none", nil, []int{}},
	} {
		if got := Order(c.list); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// What is in order stays as it is.
func FuzzOrder(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{23, 4, 0, 0, 5, 77, 200, 12, 3})
	f.Add([]byte("many reads and then a write of all that they have read, twice and thrice\x02\x03"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list := exchanges(data)
		order := Order(list)
		if seen := slices.Sorted(slices.Values(order)); len(seen) != len(list) || len(seen) > 0 && seen[len(seen)-1] != len(list)-1 {
			t.Fatalf("%v is no order of %d", order, len(list))
		}
		sorted := make([]*Interaction, len(list))
		for i, at := range order {
			sorted[i] = list[at]
		}
		for i, at := range Order(sorted) {
			if i != at {
				t.Fatalf("%d: sorted again it is another order: %v", i, Order(sorted))
			}
		}
	})
}

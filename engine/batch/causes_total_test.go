package batch

import (
	"strings"
	"testing"
)

// What the sum of the groups and everything at once say is something to do: add, do not add, or measure longer.
func TestTotalOfCauses(t *testing.T) {
	of := func(v, half float64) *Elasticity { return &Elasticity{Throughput: v, CI95: &half} }
	for _, tt := range []struct {
		sum, all *Elasticity
		want     string
	}{
		{of(1.02, 0.05), of(0.98, 0.02), "can be added"},
		{of(1.20, 0.05), of(1.00, 0.02), "Do not add them"},
		{of(0.70, 0.05), of(1.00, 0.02), "takes two groups"},
		{of(1.20, 0.30), of(1.00, 0.02), "can be added"}, // it may be chance
		{of(1.20, 0.05), of(0.70, 0.05), "Take a longer duration_ns"},
		{of(0.70, 0.05), of(0.80, 0.40), "can be added"},
		{of(-0.07, 5.5), of(1.13, 0.2), "chance is larger"},
		{&Elasticity{Throughput: 1.2}, &Elasticity{Throughput: 1}, "Do not add them"}, // a single seed
	} {
		if got := total(tt.sum, tt.all); !strings.Contains(got, tt.want) || strings.Contains(got, "must give") {
			t.Errorf("sum %g, all %g: %q, not %q", tt.sum.Throughput, tt.all.Throughput, got, tt.want)
		}
	}
	if total(nil, of(1, 0)) != "" || total(of(1, 0), nil) != "" {
		t.Error("without one of them there is nothing to say")
	}
}

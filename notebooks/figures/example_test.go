package figures_test

import (
	"context"
	"fmt"

	"drtmx/cluster"
	"drtmx/notebooks/figures"
)

// A figure as a program computes it, here of a cluster much smaller than the
// thesis's. In a notebook: figures.Get("2-4a").Show().
func ExampleRecipe_Run() {
	f, err := figures.Get("2-4a").Run(context.Background(), figures.Quick, cluster.Knobs{"nodes": 3, "threads": 2}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range f.Series {
		fmt.Println(s.Name, len(s.Points), "points")
	}
	fmt.Println(f.Claims[0].Status)
	// Output:
	// One-sided READ 7 points
	// One-sided WRITE 7 points
	// One-sided ATOMIC 1 points
	// Two-sided read 7 points
	// Two-sided write 7 points
	// undecided
}

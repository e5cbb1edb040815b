//go:build !linux

package model

import "testing"

func onLargePages[T any](_ *testing.B, n int) []T { return make([]T, n) }

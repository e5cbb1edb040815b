//go:build !unix

package main

import "os"

var passedOn = []os.Signal{os.Interrupt}

// The Go peers live in a module of their own, so that the main module does not
// depend on other simulators.
module drtmx/engine/sim/peers/go

go 1.26.0

require (
	github.com/fschuetz04/simgo v0.7.0
	github.com/sarchlab/akita/v4 v4.9.1
	golang.org/x/sys v0.35.0
)

require github.com/rs/xid v1.6.0 // indirect

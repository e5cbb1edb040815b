// Package testbed says what the knobs of the cluster and of its hardware mean: which machines there are, how many threads
// each of them runs, the hardware profile, and where its memory is persistent.
//
// Its knobs are nodes, servers, clients and the threads; profile, nics, nvm.*, ddio and the like; and the numbers of the
// hardware profile, hardware.NUMBER, which stand beside the list of all knobs. Rules holds what may not be set together.
//
// It reads resolved values alone and builds nothing: the engine does.
package testbed

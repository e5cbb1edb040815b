package store

import "errors"

// What an insert or a delete may answer besides success.
var (
	ErrExists  = errors.New("key exists")
	ErrMissing = errors.New("no such key")
	// ErrChanged: records came or went where the key would be.
	ErrChanged = errors.New("the gap has another version")
	ErrFull    = errors.New("no spare row left: raise the table's spare rows")
	ErrRows    = errors.New("row and node numbers have 32 bits: use more servers")
	ErrFixed   = errors.New("the table is fixed: make it without Fixed")
	// ErrBusy: a chain was being changed at every one of very many attempts.
	ErrBusy = errors.New("hash chain busy")
)

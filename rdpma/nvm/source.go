package nvm

import "embed"

// Source is the text of this package: it decides what runs compute, so the code
// version of a result covers it (engine.CodeVersion).
//
//go:embed *.go
var Source embed.FS

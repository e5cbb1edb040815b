package engine

// CodeVersion identifies the source that this binary was built from.
func CodeVersion() string { return "dev" }

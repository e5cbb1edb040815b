package engine

func profileNames() []string { return []string{"val"} }

func profileCores(name string) int { return 24 }

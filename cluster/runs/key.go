package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Key names a run: code is the version of the code, parts what else decides
// the result (the resolved spec, the seed, the profile with its version, the
// scale of a figure). The parts are hashed as JSON, in which the keys of a map
// are sorted. An error means that a part cannot be written as JSON.
func Key(code string, parts ...any) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "drtmx-run 1\n%q\n", code)
	for i, p := range parts {
		b, err := json.Marshal(p)
		if err != nil {
			return "", fmt.Errorf("run key: part %d: %w", i, err)
		}
		fmt.Fprintf(h, "%d\n", len(b))
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// isKey says that a text is one of Key.
func isKey(key string) bool {
	return len(key) == 2*sha256.Size && strings.Trim(key, "0123456789abcdef") == ""
}

package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"drtmx/engine/knob"
)

// Inputs are the files that resolved values name, by knob, each as a hash of what is in it now: two runs of the same values
// are the same run only where these are equal. nil: none is named.
func Inputs(v Knobs) (map[string]string, error) {
	var out map[string]string
	for _, row := range knob.Rows() {
		if row.File == nil {
			continue
		}
		path := row.File(v[row.Name])
		if path == "" {
			continue
		}
		sum, err := contentOf(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", row.Name, path, err)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[row.Name] = sum
	}
	return out, nil
}

// contentOf is a hash of what is in a file.
func contentOf(path string) (string, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", withoutPath(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"drtmx/engine/knob"
)

// Inputs are the files that resolved values name, by knob, each as a hash of what is in it now: two runs of the same values
// are the same run only where these are equal. nil: none is named. Of a file that cannot be read it is "", and the error says why.
func Inputs(v Knobs) (out map[string]string, err error) {
	for _, row := range knob.Rows() {
		if row.File == nil {
			continue
		}
		path := row.File(v[row.Name])
		if path == "" {
			continue
		}
		sum, wrong := contentOf(path)
		if wrong != nil && err == nil {
			err = fmt.Errorf("%s: %s: %w", row.Name, path, wrong)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[row.Name] = sum
	}
	return out, err
}

// contentOf is a hash of what is in a file.
func contentOf(path string) (string, error) {
	f, err := knob.OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", knob.WithoutPath(err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes a file of a count and words.
func write(t *testing.T, count uint64, keys ...uint64) string {
	t.Helper()
	b := binary.LittleEndian.AppendUint64(nil, count)
	for _, k := range keys {
		b = binary.LittleEndian.AppendUint64(b, k)
	}
	path := filepath.Join(t.TempDir(), "keys_uint64")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	k := mustMake(t, Options{Name: FilePrefix + write(t, 5, 3, 7, 1<<40, 1<<63, 1<<64-1)})
	checkKeys(t, k, 5)
	some := mustMake(t, Options{Name: FilePrefix + write(t, 6, 1, 2, 3, 4, 5, 6), Keys: 3})
	checkKeys(t, some, 3)
	if some.Key(0) != 1 || some.Key(1) != 3 || some.Key(2) != 5 {
		t.Errorf("three of six keys are %d, %d, %d", some.Key(0), some.Key(1), some.Key(2))
	}
}

// Errors have the rule and a next step: the caller names the file.
func TestFilesThatAreRefused(t *testing.T) {
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("1234567"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, path := range map[string]string{
		"key 2 is 7 behind 7: keys must rise":           write(t, 3, 1, 7, 7),
		"key 1 is 3 behind 9: keys must rise":           write(t, 2, 9, 3),
		"says 3 keys, and 16 bytes follow":              write(t, 3, 1, 2),
		"says 1 keys, and 16 bytes follow":              write(t, 1, 1, 2),
		"it has no keys":                                write(t, 0),
		"the file has 7 bytes":                          short,
		"is no regular file":                            t.TempDir(),
		"no such file":                                  filepath.Join(t.TempDir(), "none"),
		"says 2305843009213693953 keys, and 8 bytes fo": write(t, 1<<61+1, 1),
	} {
		refused(t, path, 0, want, "SOSD's format")
	}
	refused(t, write(t, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9), 10, "it has 9 keys, fewer than workload.keys=10", "set workload.keys=9 or less")
	refused(t, write(t, 2, 1, 2), 8, "it has 2 keys, and a workload needs at least 8", "more keys")
}

// refused says that a file is refused with a rule and a next step.
func refused(t *testing.T, path string, keys uint64, rule, next string) {
	t.Helper()
	_, err := Make(Options{Name: FilePrefix + path, Keys: keys})
	var of *FileError
	if !errors.As(err, &of) || !strings.Contains(of.Rule, rule) || !strings.Contains(of.Next, next) || strings.Contains(of.Rule, path) {
		t.Errorf("%v, want %q and %q", err, rule, next)
	}
}

// A file that is cut short, or written anew, while a system runs on its keys takes none of them away.
func TestFileThatIsCutShort(t *testing.T) {
	const n = 1 << 16
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = 3 * uint64(i)
	}
	path := write(t, n, keys...)
	for _, some := range []uint64{0, n / 2} {
		k := mustMake(t, Options{Name: FilePrefix + path, Keys: some})
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		checkKeys(t, k, k.Len())
		if last := k.Key(k.Len() - 1); last < 3*(n-2) {
			t.Errorf("the last of %d keys is %d", k.Len(), last)
		}
		path = write(t, n, keys...)
	}
}

// One that is cut short while it is read is refused.
func TestFileThatEndsEarly(t *testing.T) {
	b := binary.LittleEndian.AppendUint64(nil, 3)
	for _, k := range []uint64{1, 2, 3} {
		b = binary.LittleEndian.AppendUint64(b, k)
	}
	for cut := range len(b) {
		if _, err := read(bytes.NewReader(b[:cut]), int64(len(b)), 0); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

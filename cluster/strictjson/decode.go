package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode"

	"drtmx/cluster/words"
)

// Decode decodes one JSON value: no unknown fields, nothing after it,
// numbers as written.
func Decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return misfit(err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON value")
	}
	return nil
}

// misfit says in JSON's words what encoding/json says in those of Go.
func misfit(err error) error {
	var t *json.UnmarshalTypeError
	switch {
	case err == io.EOF:
		return errors.New("empty")
	case !errors.As(err, &t):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	want := "an object"
	switch t.Type.Kind() {
	case reflect.Int, reflect.Int64, reflect.Uint64:
		want = "a whole number"
	case reflect.String:
		want = "a string"
	case reflect.Bool:
		want = "true or false"
	}
	return errors.New(strings.TrimSpace(t.Field + " must be " + want + ", not " + t.Value))
}

// DecodeOnce is decodeStrict for what a person or a script sends. It refuses a name that is
// given twice: one of the two values would be lost without a word.
func DecodeOnce(b []byte, into any) error {
	if err := Decode(b, into); err != nil {
		return fmt.Errorf("not the JSON expected here: %s", words.OneLine(err.Error()))
	}
	if name := repeatedKey(b); name != "" {
		return fmt.Errorf("%s is given twice; give each once", words.Clip(name))
	}
	return nil
}

// repeatedKey finds a key that an object of a JSON value has twice, "" for none.
// Encoding/json takes a field's name in any case, so two that differ in it are one.
func repeatedKey(b []byte) string {
	d := json.NewDecoder(bytes.NewReader(b))
	var open []map[string]bool // the keys of the objects around, nil for a list
	isKey := false
	for {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		name, isText := t.(string)
		switch t {
		case json.Delim('{'):
			open = append(open, map[string]bool{})
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if isText && isKey {
				keys, key := open[len(open)-1], folded(name)
				if keys[key] {
					return name
				}
				keys[key] = true
				isKey = false
				continue
			}
		}
		isKey = len(open) > 0 && open[len(open)-1] != nil
	}
}

// folded is the same for all spellings that strings.EqualFold calls equal: the
// smallest of the letters that stand for each other.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

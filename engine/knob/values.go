package knob

import (
	"bytes"
	"encoding/json"
)

// Values are settings by knob name. Values are bool, int, float64 or string; text such as "5us" or
// "300MB" works wherever a person types.
type Values map[string]any

// Value is a knob's value in resolved values; of one beside the list that is not set, what it is
// then. It is nil where there is neither.
func (k Values) Value(name string) any {
	x, ok := k[name]
	if ok {
		return x
	}
	if r := Find(name); r != nil && r.Unset != nil {
		return r.Unset(r, k)
	}
	return nil
}

// UnmarshalJSON restores the canonical types that JSON does not tell apart: a whole number is an
// int, unless the knob is a float.
func (k *Values) UnmarshalJSON(text []byte) error {
	var raw map[string]any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&raw); err != nil {
		return err
	}
	out := make(Values, len(raw))
	for name, v := range raw { // order-free: fills a map
		known := name // what was recorded by another name of a knob is found by the one of today
		if r := Find(name); r != nil && raw[r.Name] == nil {
			known = r.Name
		}
		out[known] = Known(name, v)
	}
	*k = out
	return nil
}

// Known is a value in canonical form where the registry knows the knob and takes the value: results
// and sessions of other versions may have others.
func Known(name string, v any) any {
	if e := Find(name); e != nil {
		if c, err := e.Parse(v); err == nil {
			return c
		}
	}
	return Plain(v)
}

// The typed readers below serve resolved values only, where a missing or mistyped knob is a bug.

func (k Values) Bool(name string) bool     { return k[name].(bool) }
func (k Values) Int(name string) int       { return k[name].(int) }
func (k Values) Float(name string) float64 { return k[name].(float64) }
func (k Values) Text(name string) string   { return k[name].(string) }

// Clone copies them.
func (k Values) Clone() Values {
	c := make(Values, len(k))
	for name, v := range k { // order-free: fills a map
		c[name] = v
	}
	return c
}

package profile

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// Each calls f with every number of the profile, in the order of its file. The
// name is that of the file, as "nic.tx_read" or "node_types.val.llc". Changing
// the number changes the profile.
func (p *Profile) Each(f func(name string, n *Number)) {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		part := v.Field(i)
		if part.Kind() == reflect.Pointer && !part.IsNil() {
			part = part.Elem()
		}
		if part.Kind() == reflect.Struct {
			eachNumber(strings.ToLower(v.Type().Field(i).Name), part, f)
		}
	}
	for _, t := range p.NodeTypes {
		eachNumber("node_types."+t.Name, reflect.ValueOf(t).Elem(), f)
	}
}

func eachNumber(section string, v reflect.Value, f func(name string, n *Number)) {
	for i := range v.NumField() {
		n, ok := v.Field(i).Addr().Interface().(*Number)
		if key := v.Type().Field(i).Tag.Get("yaml"); ok && key != "" && n.Kind != "" {
			f(section+"."+key, n)
		}
	}
}

// Number is the number of that name, nil if the profile has none.
func (p *Profile) Number(name string) *Number {
	var found *Number
	p.Each(func(other string, n *Number) {
		if other == name {
			found = n
		}
	})
	return found
}

// Clone is an independent copy.
func (p *Profile) Clone() *Profile {
	c := *p
	if p.NVM != nil {
		n := *p.NVM
		c.NVM = &n
	}
	if p.TCP != nil {
		n := *p.TCP
		c.TCP = &n
	}
	if p.Scheduler != nil {
		n := *p.Scheduler
		c.Scheduler = &n
	}
	if p.SSD != nil {
		n := *p.SSD
		c.SSD = &n
	}
	c.NodeTypes = nil
	for _, t := range p.NodeTypes {
		n := *t
		c.NodeTypes = append(c.NodeTypes, &n)
	}
	return &c
}

// Text is the file of a profile that comes with the package.
func Text(name string) ([]byte, error) {
	if _, err := Load(name); err != nil {
		return nil, err
	}
	return profileFiles.ReadFile(name + ".yaml")
}

// SetNumbers replaces values in the text of a profile and leaves everything
// else as it is, comments too. Names are those of Each.
func SetNumbers(text []byte, values map[string]float64) ([]byte, error) {
	left := len(values)
	lines := strings.Split(string(text), "\n")
	var path [3]string // by indentation
	for i, line := range lines {
		if m := keyLine.FindStringSubmatch(line); m != nil {
			depth := len(m[1]) / 2
			if depth >= len(path) {
				continue
			}
			path[depth] = m[2]
			clear(path[depth+1:])
		}
		name := strings.TrimRight(strings.Join(path[:], "."), ".")
		x, ok := values[name]
		if at := valueField.FindStringSubmatchIndex(line); ok && at != nil {
			lines[i] = line[:at[2]] + strconv.FormatFloat(x, 'g', -1, 64) + line[at[3]:]
			left--
		}
	}
	if left != 0 {
		return nil, fmt.Errorf("profile text: %d of %d numbers to set are not in it", left, len(values))
	}
	return []byte(strings.Join(lines, "\n")), nil
}

var (
	keyLine    = regexp.MustCompile(`^( *)([a-z0-9_]+):`)
	valueField = regexp.MustCompile(`\bvalue: *([^,} ]+)`)
)

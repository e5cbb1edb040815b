//go:build drtmxkernel

package main

import "drtmx/cluster/table"

// readable is a value of this module that has no form of its own, as a person reads it; false for others.
func readable(values []interface{}) (Data, bool) {
	if len(values) != 1 {
		return Data{}, false
	}
	text, page, ok := table.Show(values[0])
	if !ok {
		return Data{}, false
	}
	d := Data{Data: MIMEMap{MIMETypeText: text}}
	if page != "" {
		d.Data[MIMETypeHTML] = page
	}
	return d, true
}

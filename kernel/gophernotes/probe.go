//go:build drtmxkernel && drtmxprobe

package main

import (
	"reflect"

	"github.com/cosmos72/gomacro/imports"

	"drtmx/kernel/internal/probe"
)

func init() {
	imports.Packages.MergePackage("drtmx/kernel/internal/probe", imports.PackageUnderlying{
		Name: "probe",
		Binds: map[string]reflect.Value{
			"Long":         reflect.ValueOf(probe.Long),
			"Deaf":         reflect.ValueOf(probe.Deaf),
			"Later":        reflect.ValueOf(probe.Later),
			"InCoroutines": reflect.ValueOf(probe.InCoroutines),
			"Steps":        reflect.ValueOf(probe.Steps),
			"Failing":      reflect.ValueOf(probe.Failing),
			"Panicking":    reflect.ValueOf(probe.Panicking),
			"Line":         reflect.ValueOf(probe.Line),
			"Chart":        reflect.ValueOf(probe.Chart),
			"Unset":        reflect.ValueOf(probe.Unset),
		},
		Types: map[string]reflect.Type{"Value": reflect.TypeFor[probe.Value]()},
	})
}

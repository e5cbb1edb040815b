// Package workloadtest is the bed on which the tests of workloads run: a small
// system with everything that makes life hard switched on, and all checkers
// asked at the end. Only tests import it.
package workloadtest

// Package agenttest starts agents over fake systems for tests of what is above agents.
package agenttest

//go:build tools

// Package tools names the programs that are built, so that go.mod and go.sum cover them.
package tools

import _ "github.com/prometheus/prometheus/cmd/promtool"

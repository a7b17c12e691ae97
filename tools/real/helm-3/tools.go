//go:build tools

// Package tools names the programs that are built, so that go.mod and go.sum cover them.
package tools

import _ "helm.sh/helm/v3/cmd/helm"

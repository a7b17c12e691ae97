{{- /* What the schema cannot say: values that do not go together. Prints nothing, or fails. */ -}}
{{- define "stateward.checks" -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]{0,51}[a-z0-9])?$" .Release.Name) }}
{{- fail (printf "the name of the release must begin with a letter, have only small letters, digits and dashes, and be at most 53 characters long, got %s" .Release.Name) }}
{{- end }}
{{- if not (or .Values.products.etcd .Values.products.foundationdb) }}
{{- fail "products: one of etcd, foundationdb must be true, or there is nothing to do" }}
{{- end }}
{{- if and .Values.watch.clusterWide .Values.watch.namespaces }}
{{- fail "watch: must have namespaces or clusterWide, not both" }}
{{- end }}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) }}
{{- fail "metrics.serviceMonitor: must have metrics.enabled, or there is nothing to scrape" }}
{{- end }}
{{- if not (or .Values.serviceAccount.create .Values.serviceAccount.name) }}
{{- fail "serviceAccount.name: must say which account, where none is created" }}
{{- end }}
{{- range $name, $value := .Values.podLabels }}
{{- if regexMatch "^app[.]kubernetes[.]io/(name|instance|component|part-of|version|managed-by)$" $name }}
{{- fail (printf "podLabels: must leave %s to the chart, which finds its pods by it" $name) }}
{{- end }}
{{- end }}
{{- if hasKey .Values.rescueVolume "name" }}
{{- fail "rescueVolume: must be the volume without a name, which the chart gives it" }}
{{- end }}
{{- end }}

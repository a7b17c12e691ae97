{{- define "stateward.labels" -}}
app.kubernetes.io/name: stateward
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: operator
app.kubernetes.io/part-of: stateward
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "stateward.selector" -}}
app.kubernetes.io/name: stateward
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "stateward.account" -}}
{{- default .Release.Name .Values.serviceAccount.name }}
{{- end }}

{{- define "stateward.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- /* The namespaces that are watched, with commas; nothing: all. */ -}}
{{- define "stateward.namespaces" -}}
{{- if not .Values.watch.clusterWide }}
{{- join "," (default (list .Release.Namespace) .Values.watch.namespaces) }}
{{- end }}
{{- end }}

{{- /* The operators that run, with spaces. */ -}}
{{- define "stateward.products" -}}
{{- if .Values.products.etcd }}etcd{{ if .Values.products.foundationdb }} {{ end }}{{ end }}
{{- if .Values.products.foundationdb }}foundationdb{{ end }}
{{- end }}

{{- /* The same, for people. */ -}}
{{- define "stateward.looks" -}}
{{- if .Values.products.etcd }}etcd{{ if .Values.products.foundationdb }} and {{ end }}{{ end }}
{{- if .Values.products.foundationdb }}FoundationDB{{ end }}
{{- end }}

{{- /* What these may do. */ -}}
{{- define "stateward.rights" -}}
{{- if .Values.products.etcd }}
{{- include "stateward.rights.etcd" . }}
{{- end }}
{{- if .Values.products.foundationdb }}
{{- if .Values.products.etcd }}{{ "\n" }}{{ end }}
{{- include "stateward.rights.foundationdb" . }}
{{- end }}
{{- end }}

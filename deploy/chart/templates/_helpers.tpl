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
etcd
{{- end }}

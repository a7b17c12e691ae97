{{- /* Made by `make manifests` from the Python code; not to be edited here. */ -}}
{{- define "stateward.rights" -}}
- apiGroups: ['']
  resources: [configmaps]
  verbs: [create, get, list, patch, watch]
- apiGroups: ['']
  resources: [events]
  verbs: [create, patch]
- apiGroups: ['']
  resources: [persistentvolumeclaims]
  verbs: [delete, get, list, patch, watch]
- apiGroups: ['']
  resources: [pods]
  verbs: [delete, get, list, patch, watch]
- apiGroups: ['']
  resources: [secrets]
  verbs: [get]
- apiGroups: ['']
  resources: [services]
  verbs: [create, get, list, patch, watch]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [create, delete, get, list, patch, watch]
- apiGroups: [etcd.aenix.io]
  resources: [etcdclusters]
  verbs: [get, list, patch, watch]
- apiGroups: [etcd.aenix.io]
  resources: [etcdclusters/status]
  verbs: [patch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [create, delete, get, list, patch, watch]
{{- end }}

{{- define "stateward.rights.leases" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create, get, patch, watch]
{{- end }}

{{- define "stateward.rights.view" -}}
- apiGroups: [etcd.aenix.io]
  resources: [etcdclusters]
  verbs: [get, list, watch]
- apiGroups: [etcd.aenix.io]
  resources: [etcdclusters/status]
  verbs: [get]
- apiGroups: [etcd.aenix.io]
  resources: [etcdclusters/scale]
  verbs: [get]
{{- end }}

{{- define "stateward.rights.edit" -}}
- apiGroups: [etcd.aenix.io]
  resources: [etcdclusters]
  verbs: [create, delete, deletecollection, patch, update]
- apiGroups: [etcd.aenix.io]
  resources: [etcdclusters/scale]
  verbs: [patch, update]
{{- end }}


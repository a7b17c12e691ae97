"""Manifests as people write them."""

from __future__ import annotations

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata:
  name: conf
  labels: {app: shop}
data:
  color: red
"""

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - {name: main, image: "server:1", ports: [{containerPort: 80}]}
      - {name: side, image: "helper:1"}
"""

POD = """
apiVersion: v1
kind: Pod
metadata: {name: db-0}
spec:
  containers:
  - {name: main, image: "server:1"}
"""

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.kubectl.example.com}
spec:
  group: kubectl.example.com
  scope: Namespaced
  names: {kind: Gizmo, plural: gizmos, singular: gizmo, shortNames: [gz], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Color, type: string, jsonPath: .spec.color, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, description: How many there should be.}
              color: {type: string}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""

GIZMO = """
apiVersion: kubectl.example.com/v1
kind: Gizmo
metadata: {name: w}
spec: {size: 3, color: red}
"""

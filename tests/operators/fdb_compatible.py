"""FoundationDBClusters as users of the compatible operator have them: each must apply unchanged."""

from __future__ import annotations

from operators.fdb_manifests import spec
from stateward.kube.codec import Json
from stateward.sim.kube.papers import CERTIFICATE

_SMALL: Json = {"requests": {"cpu": "250m", "memory": "128Mi"}}
COMPATIBLE: dict[str, Json] = {
    "a first cluster": spec(),
    "on one node, to try it": {
        "version": "7.1.26",
        "faultDomain": {"key": "foundationdb.org/none"},
        "processCounts": {"stateless": -1, "cluster_controller": 1},
        "imageType": "unified",
        "labels": {
            "filterOnOwnerReference": False,
            "matchLabels": {"foundationdb.org/fdb-cluster-name": "shop"},
            "processClassLabels": ["foundationdb.org/fdb-process-class"],
            "processGroupIDLabels": ["foundationdb.org/fdb-process-group-id"],
        },
        "minimumUptimeSecondsForBounce": 60,
        "processes": {
            "general": {
                "customParameters": ["knob_disable_posix_kernel_aio=1"],
                "podTemplate": {
                    "spec": {
                        "serviceAccountName": "fdb-kubernetes",
                        "securityContext": {"runAsUser": 4059, "runAsGroup": 4059, "fsGroup": 4059},
                        "containers": [
                            {
                                "name": "foundationdb",
                                "resources": _SMALL,
                                "securityContext": {"readOnlyRootFilesystem": True},
                            },
                            {"name": "foundationdb-kubernetes-sidecar", "resources": _SMALL},
                        ],
                    }
                },
                "volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "16G"}}}},
            }
        },
        "routing": {"defineDNSLocalityFields": True, "useDNSInClusterFile": False},
        "sidecarContainer": {"enableLivenessProbe": True, "enableReadinessProbe": False},
        "useExplicitListenAddress": True,
        "automationOptions": {
            "replacements": {"enabled": True},
            "ignorePendingPodsDuration": 300000000000,
        },
    },
    "one of three data centers, with TLS": {
        "version": "7.3.63",
        "processGroupIDPrefix": "dc1",
        "dataCenter": "dc1",
        "seedConnectionString": "shop:k3s8@dc0-1.example.org:4500:tls,10.1.0.2:4500:tls,[2001:db8::1]:4500:tls",
        "partialConnectionString": {"databaseName": "shop", "generationID": "k3s8"},
        "databaseConfiguration": {
            "redundancy_mode": "triple",
            "storage_engine": "ssd-rocksdb-v1",
            "usable_regions": 2,
            "storage": 9,
            "logs": 4,
            "commit_proxies": 6,
            "grv_proxies": 2,
            "resolvers": 1,
            "log_routers": 4,
            "remote_logs": 4,
            "log_spill": 2,
            "log_version": 7,
            "perpetual_storage_wiggle": 1,
            "perpetual_storage_wiggle_locality": "instance_id:dc1-storage-1",
            "storage_migration_type": "gradual",
            "excluded_servers": [{"address": "10.0.0.9"}],
            "regions": [
                {
                    "datacenters": [
                        {"id": "dc1", "priority": 1},
                        {"id": "dc2", "priority": 1, "satellite": 1},
                    ],
                    "satellite_logs": 3,
                    "satellite_redundancy_mode": "one_satellite_double",
                },
                {"datacenters": [{"id": "dc3", "priority": 0}]},
            ],
        },
        "processes": {
            "general": {
                "podTemplate": {
                    "metadata": {
                        "labels": {"team": "data"},
                        "annotations": {"a.example.org/b": "c"},
                    },
                    "spec": {
                        "containers": [
                            {
                                "name": "foundationdb",
                                "env": [
                                    {"name": "FDB_TLS_CERTIFICATE_FILE", "value": "/tls/tls.crt"},
                                    {"name": "FDB_TLS_KEY_FILE", "value": "/tls/tls.key"},
                                ],
                                "volumeMounts": [{"name": "tls", "mountPath": "/tls"}],
                            },
                            {
                                "name": "foundationdb-kubernetes-sidecar",
                                "env": [
                                    {"name": "FDB_TLS_CERTIFICATE_FILE", "value": "/tls/tls.crt"},
                                    {"name": "FDB_TLS_KEY_FILE", "value": "/tls/tls.key"},
                                ],
                                "volumeMounts": [{"name": "tls", "mountPath": "/tls"}],
                            },
                        ],
                        "volumes": [{"name": "tls", "secret": {"secretName": "fdb-tls"}}],
                        "tolerations": [{"key": "storage", "operator": "Exists"}],
                    },
                },
            },
            "storage": {
                "customParameters": ["knob_cache_eviction_policy=random", "locality_rack=$RACK"],
                "volumeClaimTemplate": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "metadata": {"name": "ignored", "labels": {"tier": "fast"}},
                    "spec": {
                        "storageClassName": "fast",
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Ti"}},
                    },
                },
            },
            "log": {"customParameters": []},
        },
        "processCounts": {"storage": 12, "log": 0, "unset": -1, "coordinator": 3},
        "faultDomain": {"key": "topology.example.org/rack", "valueFrom": "$RACK"},
        "processGroupsToRemove": ["dc1-storage-3"],
        "processGroupsToRemoveWithoutExclusion": ["dc1-log-1"],
        "configMap": {"metadata": {"labels": {"a": "b"}}, "data": {"mine": "yes"}},
        "mainContainer": {
            "enableTls": True,
            "peerVerificationRules": "S.CN=fdb.example.org|Check.Valid=0",
            "imageConfigs": [
                {
                    "version": "7.3.63",
                    "baseImage": "registry.example.org:5000/fdb",
                    "tag": "7.3.63-hotfix",
                },
                {"baseImage": "registry.example.org:5000/fdb", "tagSuffix": "-our"},
            ],
        },
        "sidecarContainer": {
            "enableTls": True,
            "imageConfigs": [{"baseImage": "registry.example.org:5000/side"}],
        },
        "trustedCAs": [CERTIFICATE],
        "sidecarVariables": ["RACK"],
        "logGroup": "shop",
        "imageType": "split",
        "storageServersPerPod": 2,
        "logServersPerPod": 2,
        "lockOptions": {
            "disableLocks": False,
            "lockKeyPrefix": "/locks/shop",
            "lockDurationMinutes": 5,
            "denyList": [{"id": "dc9"}, {"id": "dc8", "allow": True}],
        },
        "routing": {
            "headlessService": True,
            "publicIPSource": "service",
            "podIPFamily": 4,
            "dnsDomain": "cluster.local",
        },
        "ignoreUpgradabilityChecks": True,
        "buggify": {
            "noSchedule": ["dc1-storage-1"],
            "crashLoop": ["dc1-storage-2"],
            "crashLoopContainers": [{"containerName": "foundationdb", "targets": ["*"]}],
            "emptyMonitorConf": False,
            "ignoreDuringRestart": ["dc1-log-1"],
            "blockRemoval": ["dc1-log-2"],
        },
        "replaceInstancesWhenResourcesChange": True,
        "skip": False,
        "maxZonesWithUnavailablePods": 2,
        "coordinatorSelection": [
            {"processClass": "coordinator", "priority": 10},
            {"processClass": "log"},
        ],
        "automationOptions": {
            "configureDatabase": True,
            "killProcesses": True,
            "cacheDatabaseStatusForReconciliation": True,
            "replacements": {
                "enabled": True,
                "faultDomainBasedReplacements": True,
                "failureDetectionTimeSeconds": 7200,
                "taintReplacementTimeSeconds": 600,
                "maxConcurrentReplacements": 2,
                "taintReplacementOptions": [
                    {"key": "*", "durationInSeconds": 60},
                    {"key": "example.org/drain"},
                ],
                "maxFaultDomainsWithTaintedProcessGroups": 3,
            },
            "useNonBlockingExcludes": False,
            "useLocalitiesForExclusion": True,
            "ignoreTerminatingPodsSeconds": 0,
            "ignoreMissingProcessesSeconds": 30,
            "failedPodDurationSeconds": 300,
            "maxConcurrentReplacements": 4,
            "deletionMode": "ProcessGroup",
            "removalMode": "None",
            "waitBetweenRemovalsSeconds": 0,
            "podUpdateStrategy": "Delete",
            "useManagementAPI": True,
            "databaseInteractionMode": "fdbcli",
            "maintenanceModeOptions": {
                "UseMaintenanceModeChecker": True,
                "resetMaintenanceMode": True,
                "maintenanceModeTimeSeconds": 300,
            },
            "ignoreLogGroupsForUpgrade": ["fdb-kubernetes-operator", "loader"],
            "synchronizationMode": "global",
        },
    },
    "one of three halls, as a Kubernetes cluster each": {
        "version": "7.3.63-rc1",
        "dataHall": "az1",
        "processGroupIDPrefix": "az1",
        "databaseConfiguration": {"redundancy_mode": "three_data_hall", "storage_engine": "ssd"},
        "faultDomain": {
            "key": "foundationdb.org/kubernetes-cluster",
            "value": "kc1",
            "zoneCount": 3,
            "zoneIndex": 1,
        },
    },
    "in the words of the seeds": {
        "version": "7.1.61",
        "instanceIDPrefix": "dc1",
        "services": {"headless": True, "publicIPSource": "service"},
        "instancesToRemove": ["dc1-storage-1"],
        "instancesToRemoveWithoutExclusion": ["dc1-log-1"],
        "cancelReplacementsForInstance": ["dc1-storage-2"],
        "automationOptions": {"synronizationMode": "global"},
        "lockOptions": {"denyList": [{"id": "dc2"}]},
    },
}

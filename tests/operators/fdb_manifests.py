"""FoundationDBClusters as people write them: what is refused, by whom, and what is fine."""

from __future__ import annotations

from typing import Any, NamedTuple

from stateward.kube.codec import Json


class Bad(NamedTuple):
    """A manifest with something wrong, where we say so, and words that we say."""

    title: str
    spec: Any
    field: str
    says: str
    #: Words that a server refuses it with; none: only the operator sees it.
    door: str = ""
    name: str = "shop"


def manifest(spec: Any, name: str = "shop") -> Json:
    return {
        "apiVersion": "apps.foundationdb.org/v1beta2",
        "kind": "FoundationDBCluster",
        "metadata": {"name": name},
        "spec": spec,
    }


def says(whole: Any, part: Any) -> bool:
    """Tell whether a document says all that a part of it says."""
    if isinstance(part, dict):
        return all(name in whole and says(whole[name], value) for name, value in part.items())
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(says, whole, part))
    return bool(whole == part)


def spec(**more: Any) -> Json:
    return {"version": "7.3.63", **more}


def database(**said: Any) -> Json:
    return spec(databaseConfiguration=said)


def processes(name: str = "general", **settings: Any) -> Json:
    return spec(processes={name: settings})


def pod(name: str = "general", **said: Any) -> Json:
    return processes(name, podTemplate={"spec": said})


def main(**container: Any) -> Json:
    return pod(containers=[{"name": "foundationdb", **container}])


def claim(**said: Any) -> Json:
    return processes(volumeClaimTemplate={"spec": said})


def automation(**said: Any) -> Json:
    return spec(automationOptions=said)


def replacements(**said: Any) -> Json:
    return automation(replacements=said)


def region(*centers: Json, **more: Any) -> Json:
    return database(regions=[{"datacenters": list(centers), **more}])


DC = {"id": "dc1", "priority": 1}
SATELLITE = {"id": "dc2", "priority": 1, "satellite": 1}
CONFIGURED = "spec.databaseConfiguration"
GENERAL = "spec.processes.general"
POD = f"{GENERAL}.podTemplate.spec"
CLAIM = f"{GENERAL}.volumeClaimTemplate"
PARAMETERS = f"{GENERAL}.customParameters"
REPLACED = "spec.automationOptions.replacements"


BAD: list[Bad] = [
    # ------------------------------------------------------------ names and versions
    Bad("a name with a dot", spec(), "metadata.name", "must be of a-z", "must be of a-z", name="a.b"),
    Bad("a name with a digit first", spec(), "metadata.name", "must begin with a letter", name="2go"),
    Bad("a name that is far too long", spec(), "metadata.name", "must be at most 47", "Too long", name="a" * 56),
    Bad("a name too long for its pods", spec(), "metadata.name", "a pod of class stateless", name="a" * 49),
    Bad("a name too long for one class", spec(processCounts={"cluster_controller": 1}), "metadata.name",
        "must be at most 38", name="a" * 40),
    Bad("FoundationDB 6", {"version": "6.3.24"}, "spec.version", "must be 7.1.0 or later", "7.1.0 or later"),
    Bad("FoundationDB 7.0", {"version": "7.0.0"}, "spec.version", "must be 7.1.0 or later", "7.1.0 or later"),
    Bad("a version of two numbers", {"version": "7.1"}, "spec.version", "must be three numbers", "must be three numbers"),
    Bad("a version with a letter first", {"version": "v7.3.63"}, "spec.version", "must be three numbers", "must be three numbers"),
    Bad("a version with a nought first", {"version": "07.3.63"}, "spec.version", "must be three numbers"),
    Bad("a prefix for all with no name", automation(synchronizationMode="global"), "spec.processGroupIDPrefix",
        "must be given when operators act together"),
    # ------------------------------------------------------------ the database
    Bad("redundancy in other words", database(redundancy_mode="quadruple"), f"{CONFIGURED}.redundancy_mode",
        "must be one of single, double", "must be one of single, double"),
    Bad("an engine of others", database(storage_engine="innodb"), f"{CONFIGURED}.storage_engine", "must be one of ssd",
        "must be one of ssd"),
    Bad("redwood before its time", {"version": "7.1.61", "databaseConfiguration": {"storage_engine": "ssd-redwood-1"}},
        f"{CONFIGURED}.storage_engine", "is there since 7.3"),
    Bad("sharded rocks before their time", {"version": "7.1.61", "databaseConfiguration": {"storage_engine": "ssd-sharded-rocksdb"}},
        f"{CONFIGURED}.storage_engine", "is there since 7.2"),
    Bad("an early engine to wiggle to", {"version": "7.1.61", "databaseConfiguration": {"perpetual_storage_wiggle_engine": "ssd-redwood-1"}},
        f"{CONFIGURED}.perpetual_storage_wiggle_engine", "upgrade first"),
    Bad("an unknown migration", database(storage_migration_type="brisk"), f"{CONFIGURED}.storage_migration_type",
        "must be one of disabled", "must be one of disabled"),
    Bad("a locality with a command in it", database(perpetual_storage_wiggle_locality="a:b;kill"),
        f"{CONFIGURED}.perpetual_storage_wiggle_locality", "must be KEY:VALUE", "must be KEY:VALUE"),
    Bad("a line break in a locality", database(perpetual_storage_wiggle_locality="a:b\nc"),
        f"{CONFIGURED}.perpetual_storage_wiggle_locality", "must be KEY:VALUE", "must be KEY:VALUE"),
    Bad("a wiggle to nowhere", database(perpetual_storage_wiggle_engine="fast"),
        f"{CONFIGURED}.perpetual_storage_wiggle_engine", "must be one of", "must be one of"),
    Bad("two regions of none", database(usable_regions=2), f"{CONFIGURED}.usable_regions", "must be 1 without regions"),
    Bad("two regions of one", database(usable_regions=2, regions=[{"datacenters": [DC]}]), f"{CONFIGURED}.usable_regions",
        "must be at most the number of regions", "must not be more than there are regions"),
    Bad("a region of satellites", region(SATELLITE), f"{CONFIGURED}.regions[0].datacenters",
        "must have one data center that is no satellite, got 0"),
    Bad("a region of two", region(DC, DC | {"id": "dc3"}), f"{CONFIGURED}.regions[0].datacenters", "got 2"),
    Bad("nobody who may write", database(regions=[{"datacenters": [{"id": "dc1", "priority": -1}]}]), f"{CONFIGURED}.regions",
        "a priority of 0 or more"),
    Bad("a data center in two regions", database(usable_regions=2, regions=[{"datacenters": [DC]}] * 2),
        f"{CONFIGURED}.regions[1].datacenters", "must be other data centers"),
    Bad("a data center with a command in it", region(DC | {"id": "dc1; kill all"}),
        f"{CONFIGURED}.regions[0].datacenters[0].id", "must be of letters", "must have an id of letters"),
    Bad("an unknown way with satellites", region(DC, SATELLITE, satellite_redundancy_mode="many"),
        f"{CONFIGURED}.regions[0].satellite_redundancy_mode", "must be one of one_satellite_single"),
    Bad("a way with satellites and none", region(DC, satellite_redundancy_mode="one_satellite_double"),
        f"{CONFIGURED}.regions[0].satellite_redundancy_mode", "must not be given without a satellite"),
    Bad("nobody to have data", spec(processCounts={"storage": -1}), "spec.processCounts.storage", "must leave somebody"),
    Bad("halls that nobody names", database(redundancy_mode="three_data_hall"), "spec.dataHall", "must be given"),
    Bad("a data center with a blank", spec(dataCenter="dc 1"), "spec.dataCenter", "must be of letters"),
    Bad("a hall with quotes", spec(dataHall='"a"'), "spec.dataHall", "must be of letters"),
    Bad("a log group of two lines", spec(logGroup="a\nb"), "spec.logGroup", "must be of letters"),
    # ------------------------------------------------------------ processes
    Bad("an unknown class", processes("storag", customParameters=[]), "spec.processes.storag",
        "must be general or a process class", "must be general or process classes"),
    Bad("a parameter without a value", processes(customParameters=["knob_a"]), f"{PARAMETERS}[0]", "must be NAME=VALUE"),
    Bad("a parameter with dashes", processes(customParameters=["--knob_a=1"]), f"{PARAMETERS}[0]", "write knob_a=1"),
    Bad("two lines in a parameter", processes(customParameters=["knob_a=1\n[general]"]), f"{PARAMETERS}[0]",
        "must be NAME=VALUE on one line"),
    Bad("a parameter twice", processes(customParameters=["knob_a=1", "knob-a=2"]), f"{PARAMETERS}[1]", "must say knob_a once"),
    Bad("another data directory", processes(customParameters=["datadir=/tmp"]), f"{PARAMETERS}[0]", "must leave datadir"),
    Bad("another address", processes(customParameters=["public-address=1.2.3.4:4501"]), f"{PARAMETERS}[0]",
        "must leave public_address to the operator"),
    Bad("a parameter of the monitor", processes(customParameters=["restart-delay=5"]), f"{PARAMETERS}[0]",
        "restart_delay is one of its monitor"),
    Bad("another user", processes(customParameters=["user=root"]), f"{PARAMETERS}[0]", "must be an argument of fdbserver"),
    Bad("a mistyped field of a pod", pod(tolerationz=[]), f"{POD}.tolerationz", "did you mean tolerations?"),
    Bad("a mistyped field of a container", main(imagePullPolcy="Always"), f"{POD}.containers[0].imagePullPolcy",
        "did you mean imagePullPolicy?"),
    Bad("containers as an object", pod(containers={"name": "foundationdb"}), f"{POD}.containers", "must be a list"),
    Bad("a container without a name", pod(containers=[{"image": "x"}]), f"{POD}.containers[0].name", "must be given"),
    Bad("a container twice", pod(containers=[{"name": "foundationdb"}] * 2), f"{POD}.containers[1].name", "must be another one"),
    Bad("memory in words", main(resources={"limits": {"memory": "lots"}}), f"{POD}.containers[0].resources.limits.memory",
        "a quantity must look like"),
    Bad("more asked for than allowed", main(resources={"requests": {"cpu": "4"}, "limits": {"cpu": "2"}}),
        f"{POD}.containers[0].resources.requests.cpu", "must be at most the limit, 2, got 4"),
    Bad("an image with a tag", main(image="me/fdb:7.3.63"), f"{POD}.containers[0].image", "must be without a tag"),
    Bad("an image with a digest", main(image="me/fdb@sha256:00"), f"{POD}.containers[0].image", "or digest"),
    Bad("a tagged sidecar", pod(containers=[{"name": "foundationdb-kubernetes-sidecar", "image": "h:5000/x:1"}]),
        f"{POD}.containers[0].image", "must be without a tag"),
    Bad("a tagged beginning", pod(initContainers=[{"name": "foundationdb-kubernetes-init", "image": "x:1"}]),
        f"{POD}.initContainers[0].image", "must be without a tag"),
    Bad("pods that end", pod("storage", restartPolicy="Never"), "spec.processes.storage.podTemplate.spec.restartPolicy",
        "must be Always"),
    Bad("a label with a blank", processes(podTemplate={"metadata": {"labels": {"a": "b c"}}}),
        f"{GENERAL}.podTemplate.metadata.labels.a", "must be of letters"),
    Bad("an annotation without a name", processes(podTemplate={"metadata": {"annotations": {"a/": "b"}}}),
        f"{GENERAL}.podTemplate.metadata.annotations.a/", "must be of letters"),
    Bad("one volume for all", claim(volumeName="pv-1"), f"{CLAIM}.spec.volumeName", "every pod has its own volume"),
    Bad("a volume that is no folder", claim(volumeMode="Block"), f"{CLAIM}.spec.volumeMode", "must be Filesystem"),
    Bad("less than no storage", claim(resources={"requests": {"storage": "-1Gi"}}),
        f"{CLAIM}.spec.resources.requests.storage", "must not be less than nothing"),
    # ------------------------------------------------------------ process groups
    Bad("removing a class", spec(processGroupsToRemove=["storage"]), "", "", "should match"),
    Bad("removing all", spec(processGroupsToRemove=["*"]), "spec.processGroupsToRemove[0]", "must name one process group"),
    Bad("removing what is none", spec(processGroupsToRemove=["storag-1"]), "spec.processGroupsToRemove[0]",
        "must be CLASS-NUMBER"),
    Bad("removing what must stay", spec(processGroupsToRemove=["storage-1"],
                                        automationOptions={"cancelReplacementsForProcessGroups": ["storage-1"]}),
        "spec.processGroupsToRemove[0]", "which is never to be removed"),
    Bad("dropping what must stay, in the seed's words",
        spec(processGroupsToRemoveWithoutExclusion=["log-2"], cancelReplacementsForInstance=["log-2"]),
        "spec.processGroupsToRemoveWithoutExclusion[0]", "which is never to be removed"),
    Bad("a fault in nobody", spec(buggify={"noSchedule": ["nobody-1"]}), "spec.buggify.noSchedule[0]", "must be CLASS-NUMBER"),
    Bad("a fault in no container", spec(buggify={"crashLoopContainers": [{"targets": ["*"]}]}),
        "spec.buggify.crashLoopContainers[0].containerName", "must be of a-z"),
    Bad("keeping nobody", automation(cancelReplacementsForProcessGroups=["a-1"]),
        "spec.automationOptions.cancelReplacementsForProcessGroups[0]", "must be CLASS-NUMBER"),
    # ------------------------------------------------------------ surroundings
    Bad("a seed that leads nowhere", spec(seedConnectionString="shop"), "spec.seedConnectionString",
        "a connection string must be DESCRIPTION:ID@HOST:PORT"),
    Bad("a database of two words", spec(partialConnectionString={"databaseName": "my-db"}),
        "spec.partialConnectionString.databaseName", "must be of letters, digits and '_'"),
    Bad("a generation with a sign", spec(partialConnectionString={"generationID": "a@b"}),
        "spec.partialConnectionString.generationID", "must be of letters and digits"),
    Bad("a coordinator without a port", spec(partialConnectionString={"coordinators": ["10.0.0.1"]}),
        "spec.partialConnectionString.coordinators[0]", "must"),
    Bad("two first databases", spec(seedConnectionString="a:b@10.0.0.1:4501",
                                    partialConnectionString={"coordinators": ["10.0.0.1:4501"]}),
        "spec.seedConnectionString", "must not be given beside", "must not be given both"),
    Bad("a domain with a blank", spec(routing={"dnsDomain": "my domain"}), "spec.routing.dnsDomain", "must be of a-z"),
    Bad("addresses of the fifth kind", spec(routing={"podIPFamily": 5}), "", "", "podIPFamily"),
    Bad("addresses of a node", spec(routing={"publicIPSource": "node"}), "", "", "publicIPSource"),
    Bad("a zone without a name", spec(faultDomain={"key": "foundationdb.org/kubernetes-cluster"}), "spec.faultDomain.value",
        "must be given", "value must be given"),
    Bad("a zone beyond the last", spec(faultDomain={"zoneCount": 3, "zoneIndex": 3}), "spec.faultDomain.zoneIndex",
        "must be below zoneCount, 3, got 3"),
    Bad("a zone from nowhere", spec(faultDomain={"valueFrom": "spec.rack"}), "spec.faultDomain.valueFrom",
        "must be a field of pods"),
    Bad("a key that is no label", spec(faultDomain={"key": "my rack"}), "spec.faultDomain.key", "must be of letters"),
    Bad("a label that selects nothing", spec(labels={"matchLabels": {"a": "b c"}}), "spec.labels.matchLabels.a",
        "must be of letters"),
    Bad("labels at odds", spec(labels={"matchLabels": {"a": "b"}, "resourceLabels": {"a": "c"}}),
        "spec.labels.resourceLabels.a", "must be as in matchLabels, b, got c"),
    Bad("one label for two things", spec(labels={"processGroupIDLabels": ["x"], "processClassLabels": ["x"]}),
        "spec.labels.processClassLabels[0]", "must be a key that says nothing else"),
    Bad("an id under no key", spec(labels={"processGroupIDLabels": ["a b"]}), "spec.labels.processGroupIDLabels[0]",
        "must be of letters"),
    Bad("denying nobody", spec(lockOptions={"denyList": [{"allow": True}]}), "spec.lockOptions.denyList[0].id", "must be given"),
    Bad("denying and allowing", spec(lockOptions={"denyList": [{"id": "dc1"}, {"id": "dc1", "allow": True}]}),
        "spec.lockOptions.denyList[1].allow", "must be said once of dc1"),
    Bad("a lock for no time", spec(lockOptions={"lockDurationMinutes": 0}), "", "", "lockDurationMinutes"),
    Bad("coordinators without data", spec(coordinatorSelection=[{"processClass": "stateless"}]),
        "spec.coordinatorSelection[0].processClass", "must be a class that keeps data", "must be of a class that keeps data"),
    Bad("coordinators twice", spec(coordinatorSelection=[{"processClass": "log"}, {"processClass": "log", "priority": 1}]),
        "spec.coordinatorSelection[1].processClass", "must be said once"),
    # ------------------------------------------------------------ containers
    Bad("a base image with a tag", spec(mainContainer={"imageConfigs": [{"baseImage": "me/fdb:1"}]}),
        "spec.mainContainer.imageConfigs[0].baseImage", "must be without a tag"),
    Bad("a tag with a slash", spec(sidecarContainer={"imageConfigs": [{"tag": "a/b"}]}),
        "spec.sidecarContainer.imageConfigs[0].tag", "must be of letters"),
    Bad("an image for no version", spec(mainContainer={"imageConfigs": [{"version": "7"}]}),
        "spec.mainContainer.imageConfigs[0].version", "must look like"),
    Bad("rules on two lines", spec(mainContainer={"peerVerificationRules": "S.CN=a\nS.O=b"}),
        "spec.mainContainer.peerVerificationRules", "must be on one line"),
    Bad("a secret for a certificate", spec(trustedCAs=["my-secret"]), "spec.trustedCAs[0]", "must be a certificate, as PEM"),
    Bad("a variable with a dash", spec(sidecarVariables=["RACK-ID"]), "spec.sidecarVariables[0]", "must be the name of a variable"),
    Bad("another cluster file", spec(configMap={"data": {"cluster-file": "x"}}), "spec.configMap.data.cluster-file",
        "the operator itself writes this one"),
    Bad("a key with a blank", spec(configMap={"data": {"a b": "x"}}), "spec.configMap.data.a b", "must be of letters"),
    Bad("a map that never changes", spec(configMap={"immutable": True}), "spec.configMap.immutable", "must be false"),
    # ------------------------------------------------------------ automation
    Bad("a time without a unit", automation(ignorePendingPodsDuration="300"),
        "spec.automationOptions.ignorePendingPodsDuration", "must name its unit", "must be a time with its unit"),
    Bad("more than all", replacements(maxFaultDomainsWithTaintedProcessGroups="120%"),
        f"{REPLACED}.maxFaultDomainsWithTaintedProcessGroups", "from 0% to 100%", "from 0% to 100%"),
    Bad("a taint twice", replacements(taintReplacementOptions=[{"key": "a"}, {"key": "a"}]),
        f"{REPLACED}.taintReplacementOptions[1].key", "must be said once"),
    Bad("a taint with a blank", replacements(taintReplacementOptions=[{"key": "a b"}]),
        f"{REPLACED}.taintReplacementOptions[0].key", "must be of letters"),
    Bad("a mistyped schedule", replacements(cronJob={"spec": {"shedule": "* * * * *"}}),
        f"{REPLACED}.cronJob.spec.shedule", "did you mean schedule?"),
    Bad("pods deleted by day", automation(deletionMode="Day"), "", "", "deletionMode"),
    Bad("a mode nobody knows", automation(synchronizationMode="regional"), "", "", "synchronizationMode"),
    Bad("one by the older word", automation(synronizationMode="Global"), "", "", "synronizationMode"),
    Bad("another way to talk", automation(databaseInteractionMode="telnet"), "", "", "databaseInteractionMode"),
    Bad("a mistyped option", automation(killProcess=True), "", "", "killProcess"),
    # ------------------------------------------------------------ older words
    Bad("two kinds of images", spec(imageType="split", useUnifiedImage=True), "spec.useUnifiedImage",
        "must say the same as imageType, split, got unified"),
    Bad("two prefixes", spec(processGroupIDPrefix="a", instanceIDPrefix="b"), "spec.instanceIDPrefix",
        "must say the same as processGroupIDPrefix"),
    Bad("two sources of addresses", spec(services={"publicIPSource": "service"}, routing={"publicIPSource": "pod"}),
        "spec.services.publicIPSource", "must say the same as routing.publicIPSource"),
    Bad("a service and none", spec(services={"headless": True}, routing={"headlessService": False}),
        "spec.services.headless", "must say the same as routing.headlessService"),
    Bad("two spellings", automation(synchronizationMode="local", synronizationMode="global"),
        "spec.automationOptions.synronizationMode", "leave it out"),
    Bad("two kinds of testers", spec(processCounts={"test": 1, "tester": 2}), "spec.processCounts.tester",
        "must say the same as processCounts.test"),
    # ------------------------------------------------------------ what only a schema says
    Bad("no version", {}, "", "", "version"),
    Bad("fewer than none", spec(processCounts={"storage": -2}), "", "", "processCounts.storage"),
    Bad("a class nobody has", spec(processCounts={"sorter": 2}), "", "", "sorter"),
    Bad("no uptime", spec(minimumUptimeSecondsForBounce=0), "", "", "minimumUptimeSecondsForBounce"),
    Bad("a prefix that ends with a dash", spec(processGroupIDPrefix="dc1-"), "", "", "processGroupIDPrefix"),
    Bad("a prefix that is too long", spec(processGroupIDPrefix="a" * 44), "", "", "processGroupIDPrefix"),
    Bad("volumes that are lent", spec(deletionPolicy="Lend"), "", "", "deletionPolicy"),
    Bad("the image of a third kind", spec(imageType="whole"), "", "", "imageType"),
]  # fmt: skip

# SPDX-License-Identifier: Apache-2.0
"""What the packed program consists of: sbom.py CHECKOUT TREE VERSION.

Writes share/doc/dfcl/sbom.spdx.json (SPDX 2.3) and the licence text of every part under share/doc/dfcl/licences: shared libraries
that are packed, libraries whose headers are compiled in, and the JavaScript of the pages.
"""

import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Debian packages whose headers or static parts end up in the program.
COMPILED_IN = ["libcli11-dev", "libtomlplusplus-dev", "nlohmann-json3-dev", "libfmt-dev", "librandom123-dev", "libboost-dev"]


def debian(package):
    """Name with which dpkg knows it, version and licence file of an installed package; none where it is not installed."""
    told = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package}\t${Version}\t${Depends}\n", package], capture_output=True, text=True, check=False
    )
    if told.returncode != 0:
        return None
    name, version, depends = told.stdout.splitlines()[0].split("\t")
    licence = Path("/usr/share/doc") / name / "copyright"
    if not licence.exists():  # a package that only names another, as libboost-dev does
        first = re.match(r"[\w.+-]+", depends)
        return debian(first.group(0)) if first else None
    return {"name": name, "version": version, "licence": licence.resolve(), "from": f"pkg:deb/debian/{name}@{version}"}


def owner_of(library):
    """The Debian package or wheel that a shared library came from, by its name."""
    for folder in ("/lib", "/usr/lib"):
        told = subprocess.run(["dpkg-query", "-S", f"{folder}/*/{library}"], capture_output=True, text=True, check=False)
        if told.returncode == 0:
            return debian(told.stdout.split(":")[0])
    told = subprocess.run(["dpkg-query", "-S", f"*/{library}"], capture_output=True, text=True, check=False)
    return debian(told.stdout.split(":")[0]) if told.returncode == 0 else None


def pyarrow(checkout):
    info = next((checkout / ".venv").glob("lib/python3*/site-packages/pyarrow-*.dist-info"))
    version = info.name.removeprefix("pyarrow-").removesuffix(".dist-info")
    licence = next(path for path in sorted(info.rglob("LICENSE*")) if path.is_file())
    return {"name": "arrow", "version": version, "licence": licence, "from": f"pkg:pypi/pyarrow@{version}"}


def page_parts(checkout):
    """The JavaScript that is bundled into the pages: what the page's one library needs."""
    lock = json.loads((checkout / "web/package-lock.json").read_text())["packages"]
    wanted, found = ["@observablehq/plot"], {}
    while wanted:
        name = wanted.pop()
        entry = lock.get(f"node_modules/{name}")
        if name in found or entry is None:
            continue
        folder = checkout / "web/node_modules" / name
        licences = [path for path in sorted(folder.glob("*")) if path.name.lower().startswith(("license", "licence"))]
        found[name] = {"name": name, "version": entry["version"], "licence": licences[0] if licences else None, "from": f"pkg:npm/{name}@{entry['version']}"}
        wanted += entry.get("dependencies", {})
    return [found[name] for name in sorted(found)]


def parts_of(checkout, tree):
    parts, arrow = {}, pyarrow(checkout)
    for library in sorted(path.name for path in (tree / "lib/dfcl").iterdir()):
        part = arrow if re.match(r"lib(arrow|parquet)", library) else owner_of(library)
        if part is None:
            sys.exit(f"sbom: nobody knows where {library} came from")
        parts.setdefault(part["name"], {**part, "files": []})["files"].append(f"lib/dfcl/{library}")
    for package in COMPILED_IN:
        part = debian(package)
        if part is None:
            sys.exit(f"sbom: {package} is not installed")
        parts.setdefault(part["name"], {**part, "files": []})
    for part in page_parts(checkout):
        parts.setdefault(part["name"], {**part, "files": []})
    return list(parts.values())


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def document(parts, tree, version):
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)

    def package(name, part_version, source, licence):
        return {
            "SPDXID": spdx_id(name),
            "name": name,
            "versionInfo": part_version,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": licence,
            "licenseDeclared": licence,
            "copyrightText": "NOASSERTION",
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": source}],
        }

    packages = [package("dfcl", version, f"pkg:generic/dfcl@{version}", "Apache-2.0")]
    packages += [package(part["name"], part["version"], part["from"], "NOASSERTION") for part in parts]
    digest = hashlib.sha256("\n".join(sorted(part["from"] for part in parts)).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"dfcl-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/dfcl-{version}-{digest[:32]}",
        "creationInfo": {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: dfcl tools/sbom.py"]},
        "packages": packages,
        "files": [
            {
                "SPDXID": spdx_id(file),
                "fileName": f"./{file}",
                "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256((tree / file).read_bytes()).hexdigest()}],
                "licenseConcluded": "NOASSERTION",
                "copyrightText": "NOASSERTION",
            }
            for file in ["bin/dfcl", *(file for part in parts for file in part["files"])]
        ],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-dfcl"},
            *({"spdxElementId": "SPDXRef-dfcl", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": spdx_id(part["name"])} for part in parts),
        ],
    }


def main():
    checkout, tree, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    parts = parts_of(checkout, tree)
    folder = tree / "share/doc/dfcl"
    (folder / "licences").mkdir(parents=True, exist_ok=True)
    for part in parts:
        if part["licence"] is None:
            sys.exit(f"sbom: {part['name']} has no licence text")
        shutil.copyfile(part["licence"], folder / "licences" / (part["name"].replace("/", "-").lstrip("@") + ".txt"))
    (folder / "sbom.spdx.json").write_text(json.dumps(document(parts, tree, version), indent=1) + "\n")


main()

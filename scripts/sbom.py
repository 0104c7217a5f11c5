#!/usr/bin/env python3
"""The software bill of materials of `mizan` (CycloneDX JSON), and the licences of its parts.

    scripts/sbom.py write --features A,B --commit C --epoch SECONDS --sbom FILE --licences FILE
    scripts/sbom.py check FILE --program FILE...

`write` asks cargo which crates are linked into the program with these features: normal
dependencies for this platform, without procedural macros, build scripts and tests. Their licences,
checksums and sources come from `cargo metadata` and Cargo.lock. The C libraries that crates contain,
the standard library and, for the static program, the C library are listed too.

`check` compares a file with Cargo.lock, and with the programs: the messages of panics in a program
name source files of crates, and each of those crates must be listed. If the package
cyclonedx-python-lib is installed, the file is also checked against the schema of CycloneDX, and
licence expressions against the list of SPDX. The output is the same for the same commit, tools and
--epoch.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "mizan-cli"
PROGRAM = "mizan"

# C libraries in crates: the crate, where its version is stated, name, licence and CPE vendor. A scanner
# knows them by these names, and not by that of the crate.
BUNDLED = [
    ("libsqlite3-sys", "sqlite3/sqlite3.h", r'#define SQLITE_VERSION\s+"([\d.]+)"',
     "sqlite", "blessing", "sqlite"),
    ("zstd-sys", "zstd/lib/zstd.h",
     r"#define ZSTD_VERSION_MAJOR\s+(\d+)[\s\S]*?ZSTD_VERSION_MINOR\s+(\d+)[\s\S]*?ZSTD_VERSION_RELEASE\s+(\d+)",
     "zstd", "BSD-3-Clause", "facebook"),
    ("liblzma-sys", "xz/src/liblzma/api/lzma/version.h",
     r"#define LZMA_VERSION_MAJOR\s+(\d+)[\s\S]*?LZMA_VERSION_MINOR\s+(\d+)[\s\S]*?LZMA_VERSION_PATCH\s+(\d+)",
     "xz", "0BSD", "tukaani"),
]

# Texts that a crate has for its users.
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def fail(message):
    sys.exit(f"scripts/sbom.py: {message}")


def run(*command):
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        fail(f"{command[0]} is not installed")
    if done.returncode != 0:
        fail(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def host():
    return re.search(r"^host: (\S+)$", run("rustc", "-vV"), re.MULTILINE)[1]


def linked(features):
    """The linked crates: from (name, version) to those that they use. The first is the program."""
    tree = run(
        "cargo", "tree", "--locked", "--package", PACKAGE, "--no-default-features", "--features",
        ",".join(features), "--edges", "normal,no-proc-macro", "--target", host(), "--prefix",
        "depth", "--format", " {p}")
    graph, path = {}, []
    for line in tree.splitlines():
        depth, name, version = line.split()[:3]
        crate = (name, version.removeprefix("v"))
        path[int(depth):] = [crate]
        graph.setdefault(crate, set())
        if len(path) > 1:
            graph[path[-2]].add(crate)
    return graph


def packages(features):
    """The packages of `cargo metadata`, by name and version."""
    data = json.loads(run(
        "cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host(),
        "--no-default-features", "--features", ",".join(f"{PACKAGE}/{name}" for name in features)))
    return {(one["name"], one["version"]): one for one in data["packages"]}


def checksums():
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    return {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}


def licences(text):
    """As CycloneDX wants them. Old manifests write a slash for OR."""
    return [{"expression": text.replace("/", " OR ")}]


def reference(crate):
    return f"crate:{crate[0]}@{crate[1]}"


def crate_component(crate, package, checksum):
    name, version = crate
    component = {"type": "library", "bom-ref": reference(crate), "name": name, "version": version}
    if package["description"]:
        component["description"] = " ".join(package["description"].split())
    if checksum:
        component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if package["license"]:
        component["licenses"] = licences(package["license"])
    elif package["license_file"]:
        component["licenses"] = [{"license": {"name": package["license_file"]}}]
    if checksum:
        component["purl"] = f"pkg:cargo/{name}@{version}"
    if package["repository"]:
        component["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return component


def bundled(crates):
    """The C libraries in crates: pairs of a crate and a component."""
    found = []
    for crate, package in crates.items():
        for name, header, pattern, library, licence, vendor in BUNDLED:
            if crate[0] != name:
                continue
            text = (pathlib.Path(package["manifest_path"]).parent / header).read_text()
            match = re.search(pattern, text) or fail(f"{name}: no version in {header}")
            version = ".".join(match.groups())
            found.append((crate, {
                "type": "library", "bom-ref": f"bundled:{library}@{version}", "name": library,
                "version": version, "licenses": licences(licence),
                "cpe": f"cpe:2.3:a:{vendor}:{library}:{version}:*:*:*:*:*:*:*",
                "purl": f"pkg:generic/{library}@{version}"}))
    return found


def debian_source(package):
    """Name and version of the Debian source of a package, None elsewhere."""
    try:
        shown = subprocess.run(
            ["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", package],
            capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return shown.stdout.split() if shown.returncode == 0 else None


def runtime():
    """What the compiler and the linker add."""
    rust = re.search(r"^release: (\S+)$", run("rustc", "-vV"), re.MULTILINE)[1]
    parts = [{
        "type": "library", "bom-ref": f"rust-std@{rust}", "name": "rust-std", "version": rust,
        "description": "The standard library of Rust", "licenses": licences("MIT OR Apache-2.0"),
        "purl": f"pkg:generic/rust@{rust}"}]
    glibc = re.search(r"(\d+\.\d+)\n", run("ldd", "--version"))[1]
    gcc = run("cc", "-dumpfullversion").strip()
    for name, version, package, licence, description in [
        ("glibc", glibc, "libc6-dev", "LGPL-2.1-or-later", "The C library"),
        ("gcc", gcc, "libgcc-s1", "GPL-3.0-or-later WITH GCC-exception-3.1", "libgcc, which unwinds the stack"),
    ]:
        source = debian_source(package)
        if source:
            version = source[1]
            purl = f"pkg:deb/debian/{source[0]}@{version.replace('+', '%2B').replace(':', '%3A')}?arch=source"
        else:
            purl = f"pkg:generic/{name}@{version}"
        parts.append({
            "type": "library", "bom-ref": f"{name}@{version}", "name": name, "version": version,
            "description": description, "licenses": licences(licence), "purl": purl,
            "properties": [{"name": "mizan:linked",
                            "value": "part of the static program; the Debian package uses that of the system"}]})
    return parts


def sbom(features, commit, epoch, graph, crates):
    sums = checksums()
    program = next(iter(graph))
    version = program[1]
    edges = {reference(crate): {reference(used) for used in graph[crate]} for crate in graph}
    components = [
        crate_component(crate, crates[crate], sums[crate]) for crate in graph if crate != program]
    for crate, library in bundled({crate: crates[crate] for crate in graph}):
        components.append(library)
        edges[reference(crate)].add(library["bom-ref"])
    for part in runtime():
        components.append(part)
        edges[reference(program)].add(part["bom-ref"])
    own = crates[program]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tools": {"components": [{"type": "application", "name": "scripts/sbom.py", "version": version}]},
            "component": {
                "type": "application", "bom-ref": reference(program), "name": PROGRAM, "version": version,
                "description": own["description"], "licenses": licences(own["license"]),
                "properties": [
                    {"name": "mizan:commit", "value": commit},
                    {"name": "mizan:features", "value": ",".join(features)},
                    {"name": "mizan:target", "value": host()},
                    {"name": "mizan:rustc", "value": run("rustc", "--version").strip()},
                    {"name": "mizan:cc", "value": run("cc", "--version").splitlines()[0]}]}},
        "components": sorted(components, key=lambda one: one["bom-ref"]),
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(edges.get(ref, ()))}
            for ref in sorted({reference(program)} | {one["bom-ref"] for one in components})]}
    # The number of the document follows from its content.
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}"
    return document


def licence_files(folder):
    """The licence texts of a crate or of its first folder `licenses`."""
    folders = [folder, *(one for one in folder.iterdir() if one.is_dir() and one.name.lower() in ("license", "licenses"))]
    for one in folders:
        for file in sorted(one.iterdir()):
            if file.is_file() and (one != folder or LICENCE_FILE.match(file.name)):
                yield file


def licence_texts(graph, crates):
    """One text with every licence text that a linked crate has, each once."""
    texts, without = {}, []
    for crate in sorted(graph):
        package = crates[crate]
        if package["source"] is None:
            continue
        files = list(licence_files(pathlib.Path(package["manifest_path"]).parent))
        if package["license_file"]:
            files.append(pathlib.Path(package["manifest_path"]).parent / package["license_file"])
        for file in files:
            text = file.read_text(errors="replace").replace("\r\n", "\n").strip()
            texts.setdefault(text, set()).add(f"{crate[0]} {crate[1]}")
        if not files:
            authors = ", ".join(re.sub(r"\s*<.*?>", "", one) for one in package["authors"]) or "its authors"
            without.append(f"{crate[0]} {crate[1]}: {package['license']}, by {authors}")
    rule = "=" * 80
    out = ["The programs of this release contain the following software. mizan itself is licensed under",
           "MIT or Apache-2.0, at your option."]
    for text, users in sorted(texts.items(), key=lambda item: (sorted(item[1]), item[0])):
        out += [rule, ", ".join(sorted(users)), "", text]
    if without:
        out += [rule, "Crates without a licence text of their own, with the licence that they state:", "", *without]
    sysroot = pathlib.Path(run("rustc", "--print", "sysroot").strip())
    out += [rule, "The standard library of Rust: MIT OR Apache-2.0, by the Rust Project Developers"]
    mit = sysroot / "share/doc/rust/licenses/MIT.txt"
    if mit.is_file():
        out += ["", mit.read_text().strip()]
    out += [rule, "The static program contains the GNU C Library: LGPL-2.1-or-later, by the Free Software",
            "Foundation and others. The source of mizan and its script scripts/release link it with another",
            "version of that library. It also contains libgcc: GPL-3.0-or-later WITH GCC-exception-3.1."]
    lgpl = pathlib.Path("/usr/share/common-licenses/LGPL-2.1")
    if lgpl.is_file():
        out += ["", lgpl.read_text().strip()]
    return "\n".join(out) + "\n"


def write(arguments):
    features = sorted(name for name in arguments.features.split(",") if name)
    graph = linked(features)
    crates = packages(features)
    document = sbom(features, arguments.commit, arguments.epoch, graph, crates)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    pathlib.Path(arguments.sbom).write_text(text, encoding="utf-8")
    pathlib.Path(arguments.licences).write_text(licence_texts(graph, crates), encoding="utf-8")


def named_in(program):
    """The crates whose source files are named in a program."""
    data = pathlib.Path(program).read_bytes()
    names = re.findall(rb"/crates/([A-Za-z0-9_-]+?)-(\d+\.\d+\.\d+[A-Za-z0-9.+-]*)/|"
                       rb"/registry/src/[^/\0]+/([A-Za-z0-9_-]+?)-(\d+\.\d+\.\d+[A-Za-z0-9.+-]*)/", data)
    return {((a or c).decode(), (b or d).decode()) for a, b, c, d in names}


def against_schema(path):
    """Checks the schema and the licence expressions, where the checker is installed."""
    try:
        from cyclonedx.schema import SchemaVersion
        from cyclonedx.validation.json import JsonStrictValidator
        from license_expression import get_spdx_licensing
    except ImportError:
        return "schema not checked: cyclonedx-python-lib is not installed"
    text = pathlib.Path(path).read_text(encoding="utf-8")
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if error:
        fail(f"{path} does not have the form of CycloneDX 1.6: {error}")
    spdx = get_spdx_licensing()
    document = json.loads(text)
    for one in [document["metadata"]["component"], *document["components"]]:
        for licence in one["licenses"]:
            if "expression" in licence and (wrong := spdx.validate(licence["expression"]).errors):
                fail(f"{one['name']}: {wrong}")
    return "schema of CycloneDX 1.6 and SPDX expressions checked"


def check(arguments):
    try:
        document = json.loads(pathlib.Path(arguments.file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        fail(f"{arguments.file}: {error}")
    program = document["metadata"]["component"]["bom-ref"]
    components = {one["bom-ref"]: one for one in document["components"]}
    edges = {one["ref"]: one["dependsOn"] for one in document["dependencies"]}
    if len(components) != len(document["components"]) or len(edges) != len(document["dependencies"]):
        fail("a part is listed twice")
    if set(edges) != {program, *components}:
        fail("components and dependencies list different parts")
    reached, front = set(), [program]
    while front:
        ref = front.pop()
        if ref not in edges:
            fail(f"{ref} is used but not listed")
        if ref not in reached:
            reached.add(ref)
            front += edges[ref]
    if reached != set(edges):
        fail(f"nothing uses {sorted(set(edges) - reached)}")
    sums = checksums()
    crates = set()
    for ref, one in components.items():
        if not one.get("licenses"):
            fail(f"{ref} has no licence")
        if not ref.startswith("crate:"):
            continue
        crate = (one["name"], one["version"])
        crates.add(crate)
        if crate not in sums:
            fail(f"{ref} is not in Cargo.lock")
        if (one.get("hashes") or [{"content": None}])[0]["content"] != sums[crate]:
            fail(f"{ref} has another checksum in Cargo.lock")
    seen = set()
    for binary in arguments.program:
        named = named_in(binary)
        if len(named) < 50:
            fail(f"{binary} names only {len(named)} crates")
        if named - crates:
            fail(f"{binary} contains crates that are not listed: {sorted(named - crates)}")
        seen |= named
    schema = against_schema(arguments.file)
    print(f"{len(components)} parts, {len(crates)} of them crates; {len(seen)} found in the programs; {schema}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(required=True)
    writing = commands.add_parser("write")
    for name in ["--features", "--commit", "--sbom", "--licences"]:
        writing.add_argument(name, required=True)
    writing.add_argument("--epoch", required=True, type=int)
    writing.set_defaults(act=write)
    checking = commands.add_parser("check")
    checking.add_argument("file")
    checking.add_argument("--program", action="append", default=[])
    checking.set_defaults(act=check)
    arguments = parser.parse_args()
    arguments.act(arguments)


main()

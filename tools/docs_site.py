# SPDX-License-Identifier: Apache-2.0
"""Hooks of mkdocs.yml: the decisions as a section, links to files beyond docs/ as plain names, and nothing from a network."""

import re
import shutil
from pathlib import Path

OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./[^)]*|decisions)\)")
NETWORK = "https://unpkg.com/iframe-worker/shim"
STAND_IN = "assets/javascripts/iframe-worker.js"


def on_config(config):
    pages = sorted((Path(config.docs_dir) / "decisions").glob("*.md"))
    config.nav.append({"Decisions": [f"decisions/{page.name}" for page in pages]})
    return config


def on_page_markdown(markdown, page, **_):
    """A page of docs/ may name files of the checkout, which the site does not hold."""
    if "/" in page.file.src_uri:
        return markdown
    return OUTSIDE.sub(r"`\1`", markdown)


def on_post_page(output, page, **_):
    """The theme loads the stand-in for workers (tools/docs.sh) from a network; the site brings it along."""
    up = "../" * page.url.count("/")
    return output.replace(NETWORK, up + STAND_IN)


def on_post_template(output_content, **_):
    return output_content.replace(NETWORK, STAND_IN)


def on_post_build(config, **_):
    brought = Path(config.config_file_path).parent / "build/docs-env/node_modules/iframe-worker/shim/index.js"
    shutil.copyfile(brought, Path(config.site_dir) / STAND_IN)
    for page in Path(config.site_dir).rglob("*.html"):
        text = page.read_text()
        assert '<script src="http' not in text, f"{page} loads from a network"

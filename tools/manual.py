#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Man pages and shell completions (bash, zsh, fish) from the help texts of the program: manual.py PROGRAM FOLDER.

FOLDER gets the layout of /usr/share: man/man1, bash-completion/completions, zsh/site-functions, fish/vendor_completions.d.
"""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

OPTION = re.compile(r"^  ((?:-\w, )?-{1,2}[\w-]+)(?: (\S+))?(?:\s{2,}(.*))?$")
ENTRY = re.compile(r"^  (\S+)\s{2,}(.*)$")
FILES = "TEXT"  # what the help calls a value that is mostly a path


@dataclass
class Option:
    flags: list
    value: str  # "" for a switch
    text: list = field(default_factory=list)

    @property
    def choices(self):
        return self.value.split("|") if "|" in self.value else []


@dataclass
class Help:
    name: str  # "dfcl" or "dfcl train"
    summary: str
    description: list
    usage: str
    sections: dict  # heading: lines, as they stand
    options: list


def read_help(program, *words):
    lines = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout.splitlines()
    name, summary = lines[0].split(": ", 1)
    sections, heading, description, usage = {}, None, [], ""
    for line in lines[1:]:
        if line.startswith("usage: "):
            usage = line.removeprefix("usage: ")
        elif re.match(r"^[a-z][a-z ]*:$", line):
            heading = line[:-1]
            sections[heading] = []
        elif heading:
            sections[heading].append(line)
        elif not usage:
            description.append(line)
    options = [option for part in ("options", "on every verb") for option in read_options(sections.get(part, []))]
    return Help(name, summary, "\n".join(description).strip().splitlines(), usage, sections, options)


def read_options(lines):
    options = []
    for line in lines:
        found = OPTION.match(line)
        if found:
            text = [found.group(3)] if found.group(3) else []
            options.append(Option(found.group(1).split(", "), found.group(2) or "", text))
        elif line.strip() and options:
            options[-1].text.append(line.strip())
    return options


def verbs_of(top):
    return [ENTRY.match(line).groups() for line in top.sections["verbs"] if ENTRY.match(line)]


# --- man pages ---


def roff(text):
    """A line of text for troff: backslashes, dashes, and a first character that would be a command."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def man_entries(lines):
    out = []
    for line in lines:
        found = ENTRY.match(line)
        if found:
            out += [".TP", ".B " + roff(found.group(1)), roff(found.group(2))]
        elif line.strip():
            out.append(roff(line.strip()))
    return out


def man_description(lines):
    """Paragraphs; indented lines are lists."""
    out = []
    for line in lines:
        if ENTRY.match(line):
            out += man_entries([line])
        else:
            out.append(roff(line) if line else ".PP")
    return out


def man_page(page, version, see_also):
    title = page.name.replace(" ", "-")
    out = [
        f'.TH {title.upper()} 1 "" "dfcl {version}" "dfcl"',
        ".SH NAME", f"{roff(title)} \\- {roff(page.summary)}",
        ".SH SYNOPSIS", ".B " + roff(page.usage),
        ".SH DESCRIPTION", *man_description(page.description),
    ]  # fmt: skip
    for heading in ("verbs", "arguments"):
        if heading in page.sections:
            out += [".SH " + heading.upper(), *man_entries(page.sections[heading])]
    out.append(".SH OPTIONS")
    for option in page.options:
        out += [".TP", ".B " + roff(", ".join(option.flags) + (f" {option.value}" if option.value else ""))]
        for number, line in enumerate(option.text):
            out += [".br"] * (number == 1) + [roff(line)]
    if "exit codes" in page.sections:
        out += [".SH EXIT STATUS", *man_entries(page.sections["exit codes"])]
    if "example" in page.sections:
        out += [".SH EXAMPLE", ".nf", *[roff(line.strip()) for line in page.sections["example"]], ".fi"]
    out += [".SH SEE ALSO", ", ".join(f"{roff(name)}(1)" for name in see_also)]
    return "\n".join(out) + "\n"


# --- completions ---


def all_flags(page):
    return [flag for option in page.options for flag in option.flags]


def methods_of(page):
    return [m.group(1) for line in page.description if (m := re.match(r"^  ([a-z][\w-]*)\s{2,}", line))]


def choices_by_flag(verb, page):
    choices = {flag: option.choices for option in page.options for flag in option.flags if option.choices}
    if verb == "train":
        choices["--method"] = methods_of(page)
    return choices


def bash_completion(pages):
    out = ["# bash completion of dfcl, from its help texts", "_dfcl() {",
           '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=""',
           "  if [[ $COMP_CWORD == 1 ]]; then",
           f'    COMPREPLY=($(compgen -W "{" ".join(pages)} --help --version" -- "$word")); return', "  fi",
           "  case ${COMP_WORDS[1]} in"]  # fmt: skip
    for verb, page in pages.items():
        out += [f"    {verb})", "      case $before in"]
        for flag, choices in choices_by_flag(verb, page).items():
            out.append(f'        {flag}) COMPREPLY=($(compgen -W "{" ".join(choices)}" -- "$word")); return ;;')
        out += ["      esac", f'      words="{" ".join(all_flags(page))}" ;;']
    out += ["  esac", '  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word"));',
            '  else COMPREPLY=($(compgen -f -- "$word")); fi', "}", "complete -o filenames -F _dfcl dfcl"]  # fmt: skip
    return "\n".join(out) + "\n"


def quoted(text):
    return text.replace("'", "’").replace("[", "(").replace("]", ")").replace(":", "\\:")


def zsh_completion(pages, summaries):
    out = ["#compdef dfcl", "# zsh completion of dfcl, from its help texts", "_dfcl() {", "  local -a verbs", "  verbs=("]
    out += [f"    '{verb}:{quoted(summaries[verb])}'" for verb in pages]
    out += ["  )", "  if (( CURRENT == 2 )); then _describe verb verbs; return; fi", "  case $words[2] in"]
    for verb, page in pages.items():
        choices = choices_by_flag(verb, page)
        out += [f"    {verb})", "      _arguments \\"]
        for option in page.options:
            for flag in option.flags:
                value = ""
                if option.value:
                    picked = choices.get(flag)
                    value = ":value:" + (f"({' '.join(picked)})" if picked else "_files" if option.value == FILES else " ")
                out.append(f"        '*{flag}[{quoted(option.text[0] if option.text else '')}]{value}' \\")
        out += ["        '*:file:_files' ;;"]
    out += ["  esac", "}", '_dfcl "$@"']
    return "\n".join(out) + "\n"


def fish_completion(pages, summaries):
    def text(line):
        return line.replace("\\", "\\\\").replace("'", "\\'")

    out = ["# fish completion of dfcl, from its help texts"]
    for verb in pages:
        out.append(f"complete -c dfcl -n __fish_use_subcommand -f -a {verb} -d '{text(summaries[verb])}'")
    for verb, page in pages.items():
        choices = choices_by_flag(verb, page)
        for option in page.options:
            names = " ".join(f"-s {flag[1:]}" if len(flag) == 2 else f"-l {flag[2:]}" for flag in option.flags)
            picked = next((choices[flag] for flag in option.flags if flag in choices), None)
            value = f" -x -a '{' '.join(picked)}'" if picked else " -r" if option.value == FILES else " -x" if option.value else ""
            about = text(option.text[0]) if option.text else ""
            out.append(f"complete -c dfcl -n '__fish_seen_subcommand_from {verb}' {names}{value} -d '{about}'")
    return "\n".join(out) + "\n"


def main(program, folder):
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    top = read_help(program)
    summaries = dict(verbs_of(top))
    pages = {verb: read_help(program, verb) for verb in summaries}
    names = ["dfcl", *[f"dfcl-{verb}" for verb in pages]]
    files = {f"man/man1/{name}.1": man_page(page, version, [other for other in names if other != name])
             for name, page in zip(names, [top, *pages.values()], strict=True)}  # fmt: skip
    files["bash-completion/completions/dfcl"] = bash_completion(pages)
    files["zsh/site-functions/_dfcl"] = zsh_completion(pages, summaries)
    files["fish/vendor_completions.d/dfcl.fish"] = fish_completion(pages, summaries)
    for name, content in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    print(f"{len(names)} man pages and the completions of bash, zsh and fish: {folder}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("manual.py PROGRAM FOLDER")
    main(sys.argv[1], sys.argv[2])

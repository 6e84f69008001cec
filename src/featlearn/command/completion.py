"""Completion for shells: written out, so that a key pressed starts no Python."""

from __future__ import annotations

import argparse

BASH = """_featlearn() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands}"
  else
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _featlearn featlearn
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def completion(options: argparse.Namespace) -> int:
    """Print the script of a shell."""
    from featlearn.command import COMMANDS, parser

    (below,) = (
        action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    cases = [
        f'      {name}) words="{" ".join(sorted(own._option_string_actions))}" ;;'
        for name, own in below.choices.items()
    ]
    script = BASH.format(commands=" ".join(COMMANDS), cases="\n".join(cases))
    print((ZSH if options.shell == "zsh" else "") + script, end="")
    return 0

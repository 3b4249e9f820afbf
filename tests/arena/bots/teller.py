"""A CodinGame bot that keeps what it is told: ``teller.py FILE CONFIGURATION ANSWER...``.

FILE gets a JSON object a line: the constants, then what each turn told it. After its last answer it plays at random.
"""

import json
import sys

log, configuration, *answers = sys.argv[1:]
names = configuration.split()


def keep(**told: object) -> None:
    with open(log, "a") as file:
        print(json.dumps(told), file=file)


def read(name: str) -> object:
    return [input() for _ in range(int(input()))] if name == "moves" else input()


keep(constants=[input() for _ in range(int(input()))])
print(configuration, flush=True)
while True:
    turn = [[name, read(name)] for name in names]
    keep(turn=turn)
    print(answers.pop(0) if answers else "random", flush=True)

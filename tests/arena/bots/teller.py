"""A CodinGame bot that records its inputs: ``teller.py FILE CONFIGURATION ANSWER...``.

FILE gets one JSON object per line: the constants, then the inputs of each turn. After its last answer the bot plays at
random.
"""

import json
import sys

log, configuration, *answers = sys.argv[1:]
names = configuration.split()


def keep(**inputs: object) -> None:
    with open(log, "a") as file:
        print(json.dumps(inputs), file=file)


def read(name: str) -> object:
    return [input() for _ in range(int(input()))] if name == "moves" else input()


keep(constants=[input() for _ in range(int(input()))])
print(configuration, flush=True)
while True:
    turn = [[name, read(name)] for name in names]
    keep(turn=turn)
    print(answers.pop(0) if answers else "random", flush=True)

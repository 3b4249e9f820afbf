"""A CodinGame bot that plays the first legal move, and causes the trouble named by its argument in its second."""

import os
import sys
import time

trouble = sys.argv[1] if len(sys.argv) > 1 else "nothing"
for _ in range(int(input())):
    input()
print("moves", flush=True)
turn = 0
while True:
    moves = [input() for _ in range(int(input()))]
    turn += 1
    match trouble if turn == 2 else "nothing":
        case "die":
            os._exit(3)
        case "hang":
            time.sleep(3600)
        case "flood":
            while True:
                os.write(1, b"x" * 65536)
        case "complain":
            while True:
                os.write(2, b"y\n" * 32768)
        case "eat":
            hoard = []
            while True:
                hoard.append(bytearray(16 << 20))
        case "illegal":
            print("a1a1", flush=True)
        case "garbage":
            print("hello?", flush=True)
        case "close":
            os.close(1)
            time.sleep(3600)
        case _:
            print(min(moves), flush=True)

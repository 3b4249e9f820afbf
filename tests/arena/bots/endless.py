"""A bot that thinks for ever, and a program that it starts. Both hold a connection to the port ALIVE."""

import os
import socket
import subprocess
import threading

from reconchess.bots import random_bot


class Endless(random_bot.RandomBot):
    def choose_sense(self, sense_actions, move_actions, seconds_left):
        alive = socket.create_connection(("127.0.0.1", int(os.environ["ALIVE"])))
        subprocess.Popen(["sleep", "infinity"], pass_fds=[alive.fileno()])
        alive.sendall(b"!")
        threading.Event().wait()

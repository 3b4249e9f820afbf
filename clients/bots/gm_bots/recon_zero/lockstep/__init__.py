"""Many games of recon-zero in step: trees and positions are arrays, and the network is asked once for all games.

The rules are the kernels of :mod:`gm_env`, so positions are as it stores them: as the side to move sees the board.
"""

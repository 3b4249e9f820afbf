"""``recon-zero``: a bot for reconnaissance blind chess that learns by playing against itself.

NumPy is needed for all of it; PyTorch for the network alone, and nothing imports it before it is used. The bots' README
says in which order the files are to be read.
"""

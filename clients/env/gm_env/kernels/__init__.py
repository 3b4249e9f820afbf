"""The compiled part: the layout of the arrays, and the kernels that work on them."""

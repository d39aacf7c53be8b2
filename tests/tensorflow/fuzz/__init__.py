"""A differential fuzzer: random programs that run on TensorFlow and on gradtape alike.

A program is data: `inputs` (name, kind, dtype, shape, values), `steps` (an expression of the module
`tf`, the names that fill its numbered holes, the parameters that fill its named ones) and a
`scenario` (how tapes follow the steps and what is asked of them). `generate` draws one from a seed,
`render` writes it as Python, `interpret` runs that on a module, `worker` holds the real TensorFlow,
`compare` judges two answers, `known` lists the differences that are documented, `apart` looks
behind them step by step, and `shrink` makes a program that tells the libraries apart short enough
to read. `coverage` says what is reached. `wild` draws the other two distributions, whose arguments
come from `arguments`; `order` tells two faults from one, and `limits` bounds what a program costs.
"""

